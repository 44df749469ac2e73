-- GET /api/v1/resolution/statistics
--   project_id=00000000-0000-4000-8000-000000000002
--   group_by=day
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1786449600000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 1002

SELECT grouping(day) = 1 AS is_total, day,
  sum(of_cookie) AS events, sumIf(of_cookie, is_resolved) AS resolved_events,
  uniqExact(cookie_id) AS visitors, uniqExactIf(cookie_id, is_resolved) AS resolved_visitors
FROM (
  SELECT toDate(timestamp) AS day, cookie_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) != 0 AS is_resolved, count() AS of_cookie
  FROM events
  WHERE organization_id = {p0:UUID}
    AND project_id = {p1:UUID}
    AND source = {p2:String}
    AND ts_millis >= {p3:Int64}
    AND ts_millis < {p4:Int64}
  GROUP BY day, organization_id, cookie_id
)
GROUP BY GROUPING SETS ((day), ())
ORDER BY is_total DESC, day DESC
LIMIT {p5:UInt32}
SETTINGS force_grouping_standard_compatibility = 1
