-- GET /api/v3/events/resolution_full_profile/visitors
--   start_ms=1788955200000
--   end_ms=1789041600000
--   project_id=00000000-0000-4000-8000-000000000002
--   kind=accounts
--   limit=100
--   select=company_domain,company_name,timestamp
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 100

WITH dictGetOrDefault('person_by_hem', 'profile_number', tuple(_hem_number), _hem_number) AS _profile_number, dictGetOrDefault('profile_by_hem', ('hem_number', 'pte', 'profile'), toUInt64(_profile_number), (toUInt256(0), '', ''))::Tuple(hem_number UInt256, pte String, profile String) AS _person, JSONExtract(concat('{', substring(if(_person.hem_number = _profile_number, _person.profile, ''), 2), '}'), 'Tuple(company_domain Nullable(String), company_name Nullable(String))') AS _values
SELECT _values.company_domain AS company_domain, _values.company_name AS company_name, timestamp
FROM (
  SELECT timestamp, ts_millis, event_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS _hem_number
  FROM events
  WHERE organization_id = {p0:UUID}
    AND project_id = {p1:UUID}
    AND source = {p2:String}
    AND ts_millis >= {p3:Int64}
    AND ts_millis < {p4:Int64}
    AND (ts_millis, event_id) IN (
    SELECT ts_millis, event_id
    FROM (
      SELECT ts_millis, event_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS _hem_number
      FROM events
      WHERE organization_id = {p0:UUID}
        AND project_id = {p1:UUID}
        AND source = {p2:String}
        AND ts_millis >= {p3:Int64}
        AND ts_millis < {p4:Int64}
        AND _hem_number != 0
      ORDER BY ts_millis DESC, event_id DESC
      LIMIT 1 BY _hem_number
    ) AS people ANY INNER JOIN (SELECT arrayJoin(arrayFilter(held -> dictGetOrDefault('person_by_hem', 'profile_number', tuple(held), held) = reinterpretAsUInt256(unhex(hem)), dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))) AS _hem_number, company_domain FROM profiles FINAL WHERE company_domain != '') AS companies USING _hem_number
    ORDER BY ts_millis DESC, event_id DESC
    LIMIT 1 BY company_domain
    LIMIT {p5:UInt32}
  )
)
ORDER BY ts_millis DESC, event_id DESC
