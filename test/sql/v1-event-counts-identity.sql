-- GET /api/v1/event_counts
--   start_ms=1788955200000
--   end_ms=1789041600000
--   project_id=00000000-0000-4000-8000-000000000002
--   group_by=url
--   filter=company_domain:eq:acme.example
--   distinct=hem
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 String = "acme.example"
-- p6 UInt32 = 10001

SELECT page_url AS url, count() AS count, uniqExact(tuple(hem)) AS `distinct`, sum(count()) OVER () AS _total
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
  AND dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) IN (SELECT arrayJoin(arrayFilter(held -> dictGetOrDefault('person_by_hem', 'profile_number', tuple(held), held) = reinterpretAsUInt256(unhex(hem)), dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))) FROM profiles FINAL WHERE company_domain = {p5:String})
GROUP BY url
ORDER BY count DESC, url
LIMIT {p6:UInt32}
SETTINGS optimize_injective_functions_inside_uniq = 0
