-- POST /api/v1/contact/query
--   {"filter":"job_title:like:%engineer%,company_domain:eq:acme.example","limit":10}
--
-- p0 String = "%engineer%"
-- p1 String = "acme.example"
-- p2 UUID = "00000000-0000-4000-8000-000000000001"
-- p3 UInt32 = 11
-- mail_providers: table of 8760 texts, 001.igg.biz, 027168.com …

SELECT person_key, hem_text FROM (
  SELECT ifNull(pte_person_id, toString(hem)) AS person_key, toString(hem) AS hem_text, business_email, email, company_domain
  FROM profiles FINAL
  WHERE job_title LIKE {p0:String}
    AND company_domain = {p1:String}
    AND toString(hem) NOT IN (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p2:UUID}, toUUID('00000000-0000-0000-0000-000000000000')))
  ORDER BY person_key, updated_at DESC, hem
  LIMIT 1 BY person_key
)
WHERE if(ifNull(business_email, '') != '', lower(trim(splitByChar('@', ifNull(business_email, ''))[-1])) != '' AND lower(trim(splitByChar('@', ifNull(business_email, ''))[-1])) NOT IN (SELECT value FROM mail_providers),
    lower(ifNull(company_domain, '')) != '' AND (lower(trim(splitByChar('@', ifNull(email, ''))[-1])) = lower(ifNull(company_domain, '')) OR endsWith(lower(trim(splitByChar('@', ifNull(email, ''))[-1])), concat('.', lower(ifNull(company_domain, ''))))) AND lower(trim(splitByChar('@', ifNull(email, ''))[-1])) != '' AND lower(trim(splitByChar('@', ifNull(email, ''))[-1])) NOT IN (SELECT value FROM mail_providers))
ORDER BY person_key
LIMIT {p3:UInt32}
