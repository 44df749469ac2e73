-- POST /api/v1/lookup/batch
--   {"items":[{"hem":"b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"},{"hem":"b533d4547eaa5a0fa955965a1ca393ccd2ea013032a105726f232eb41bddc4fa"}],"select":"hem,job_title,company_domain"}
--
-- organization UUID = "00000000-0000-4000-8000-000000000001"
-- asked_hems: table of 2 texts, b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72, b533d4547eaa5a0fa955965a1ca393ccd2ea013032a105726f232eb41bddc4fa

WITH (_profile_number, pte, profile)::Tuple(hem_number UInt256, pte String, profile String) AS _person, JSONExtract(concat('{', substring(if(_person.hem_number = _profile_number, _person.profile, ''), 2), '}'), 'Tuple(job_title Nullable(String), company_domain Nullable(String))') AS _values
SELECT hem, _values.job_title AS job_title, _values.company_domain AS company_domain
FROM (SELECT value AS hem, dictGetOrDefault('person_by_hem', 'profile_number', tuple(reinterpretAsUInt256(unhex(value))), reinterpretAsUInt256(unhex(value))) AS _profile_number FROM asked_hems WHERE value NOT IN (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({organization:UUID}, toUUID('00000000-0000-0000-0000-000000000000')))) AS asked
INNER JOIN (
  SELECT hem_number AS _profile_number, pte, profile
  FROM profile_rows
  WHERE hem_key IN (SELECT toUInt64(_profile_number) FROM (SELECT value AS hem, dictGetOrDefault('person_by_hem', 'profile_number', tuple(reinterpretAsUInt256(unhex(value))), reinterpretAsUInt256(unhex(value))) AS _profile_number FROM asked_hems WHERE value NOT IN (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({organization:UUID}, toUUID('00000000-0000-0000-0000-000000000000')))))
    AND hem_number IN (SELECT _profile_number FROM (SELECT value AS hem, dictGetOrDefault('person_by_hem', 'profile_number', tuple(reinterpretAsUInt256(unhex(value))), reinterpretAsUInt256(unhex(value))) AS _profile_number FROM asked_hems WHERE value NOT IN (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({organization:UUID}, toUUID('00000000-0000-0000-0000-000000000000')))))
  ORDER BY hem_number, updated_at DESC
  LIMIT 1 BY hem_number
) AS stored USING _profile_number
