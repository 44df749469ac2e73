-- GET /api/v3/events/web_event/counts
--   project_id=00000000-0000-4000-8000-000000000002
--   group_by=day,event_type
--   distinct=cookie_id
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 1001

SELECT toDate(timestamp) AS day, event_type, count() AS count, uniqExact(tuple(cookie_id)) AS `distinct`, sum(count()) OVER () AS _total
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
GROUP BY day, event_type
ORDER BY day, count DESC, event_type
LIMIT {p5:UInt32}
SETTINGS optimize_injective_functions_inside_uniq = 0
