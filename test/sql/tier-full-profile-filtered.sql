-- GET /api/v3/events/resolution_full_profile
--   project_id=00000000-0000-4000-8000-000000000002
--   filter=event_type:eq:page_view,page_url:like:%/pricing%,job_title:like:%engineer%
--   select=timestamp,page_url,hem,job_title,company_domain
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 String = "page_view"
-- p6 String = "%/pricing%"
-- p7 String = "%engineer%"
-- p8 UInt32 = 101

WITH dictGetOrDefault('person_by_hem', 'profile_number', tuple(_hem_number), _hem_number) AS _profile_number, dictGetOrDefault('profile_by_hem', ('hem_number', 'pte', 'profile'), toUInt64(_profile_number), (toUInt256(0), '', ''))::Tuple(hem_number UInt256, pte String, profile String) AS _person, JSONExtract(concat('{', substring(if(_person.hem_number = _profile_number, _person.profile, ''), 2), '}'), 'Tuple(job_title Nullable(String), company_domain Nullable(String))') AS _values
SELECT toString(min((ts_millis, event_id)) OVER ()) AS _next, timestamp, page_url, CAST(if(_hem_number = 0, NULL, lower(hex(reinterpretAsFixedString(_hem_number)))), 'Nullable(String)') AS hem, _values.job_title AS job_title, _values.company_domain AS company_domain
FROM (
  SELECT timestamp, page_url, ts_millis, event_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS _hem_number
  FROM events
  WHERE organization_id = {p0:UUID}
    AND project_id = {p1:UUID}
    AND source = {p2:String}
    AND ts_millis >= {p3:Int64}
    AND ts_millis < {p4:Int64}
    AND event_type = {p5:String}
    AND page_url LIKE {p6:String}
    AND dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) IN (SELECT arrayJoin(arrayFilter(held -> dictGetOrDefault('person_by_hem', 'profile_number', tuple(held), held) = reinterpretAsUInt256(unhex(hem)), dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))) FROM profiles FINAL WHERE job_title LIKE {p7:String})
  ORDER BY ts_millis DESC, event_id DESC
  LIMIT {p8:UInt32}
)
ORDER BY ts_millis DESC, event_id DESC
