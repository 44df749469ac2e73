-- GET /api/v1/event_counts_index
--   start_ms=1788955200000
--   end_ms=1789041600000
--   project_id=00000000-0000-4000-8000-000000000002
--   interval=hour
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 10001

SELECT toStartOfHour(timestamp) AS hour, event_type, count() AS count, sum(count()) OVER () AS _total
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
GROUP BY hour, event_type
ORDER BY hour, count DESC, event_type
LIMIT {p5:UInt32}
