-- GET /api/v1/analytics/timeseries
--   start_ms=1788955200000
--   end_ms=1789041600000
--   project_id=00000000-0000-4000-8000-000000000002
--   interval=day
--   include=sessions
--
-- p0 Array(Int64) = [1788912000000,1788998400000]
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 UUID = "00000000-0000-4000-8000-000000000002"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789216200000
-- p5 Int64 = 1788955200000
-- p6 Int64 = 1789041600000

SELECT roundDown(toInt64(ts_millis - session_ms), {p0:Array(Int64)}) AS start_ms,
  countIf(session_event = 1) AS sessions,
  countIf((event_type = 'page_view' AND session_page = 1)) AS viewing_sessions,
  viewing_sessions - countIf(event_type = 'page_view' AND session_page = 2) AS bounced_sessions,
  countIf(event_type = 'page_view') AS viewed_pages,
  sum(session_gap_ms) AS page_ms
FROM hits
WHERE organization_id = {p1:UUID}
  AND project_id = {p2:UUID}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
  AND NOT is_bot
  AND ts_millis - session_ms >= {p5:Int64} AND ts_millis - session_ms < {p6:Int64}
GROUP BY start_ms
