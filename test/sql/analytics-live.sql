-- GET /api/v1/analytics/live
--   project_id=00000000-0000-4000-8000-000000000002
--
-- p0 Int64 = 1789041300000
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 UUID = "00000000-0000-4000-8000-000000000002"
-- p3 Int64 = 1786449600000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 30

WITH intDiv(ts_millis, 60000) AS minute
SELECT multiIf(grouping(minute) = 0, 'minute', grouping(page_path) = 0, 'page_path', '') AS dimension,
  multiIf(grouping(minute) = 0, toString(minute), grouping(page_path) = 0, toString(page_path), NULL) AS value,
  count() AS events, uniqExact(cookie_id) AS visitors, countIf(event_type = 'page_view') AS page_views,
  uniqExactIf(cookie_id, ts_millis >= {p0:Int64}) AS visitors_since
FROM hits
WHERE organization_id = {p1:UUID}
  AND project_id = {p2:UUID}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
  AND NOT is_bot
GROUP BY GROUPING SETS ((minute), (page_path), ())
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT {p5:UInt32} BY dimension
SETTINGS force_grouping_standard_compatibility = 1
