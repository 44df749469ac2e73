-- GET /api/v1/analytics/overview
--   project_id=00000000-0000-4000-8000-000000000002
--
-- p0 Int64 = 1789041600000
-- p1 Int64 = 1786449600000
-- p2 Int64 = 1789041600000
-- p3 Int64 = 1786449600000
-- p4 Int64 = 1789041600000
-- p5 UUID = "00000000-0000-4000-8000-000000000001"
-- p6 UUID = "00000000-0000-4000-8000-000000000002"
-- p7 Int64 = 1786449600000
-- p8 Int64 = 1789216200000

WITH ts_millis < {p0:Int64} AS is_in_window,
  ts_millis - session_ms >= {p1:Int64} AND ts_millis - session_ms < {p2:Int64} AND NOT is_bot AS is_counted,
  (session_event = 1 OR NOT (ts_millis - session_ms >= {p3:Int64} AND ts_millis - session_ms < {p4:Int64})) AS is_first
SELECT countIf(is_in_window AND NOT is_bot) AS events, uniqExactIf(cookie_id, is_in_window AND NOT is_bot AND is_first) AS visitors, countIf(event_type = 'page_view' AND is_in_window AND NOT is_bot) AS page_views,
  countIf(is_in_window AND is_bot) AS bot_events, uniqExactIf(cookie_id, is_in_window AND is_bot AND is_first) AS bot_visitors, countIf(event_type = 'page_view' AND is_in_window AND is_bot) AS bot_page_views,
  countIf(session_event = 1 AND is_counted) AS sessions,
  countIf((event_type = 'page_view' AND session_page = 1) AND is_counted) AS viewing_sessions,
  viewing_sessions - countIf(event_type = 'page_view' AND session_page = 2 AND is_counted) AS bounced_sessions,
  countIf(event_type = 'page_view' AND is_counted) AS viewed_pages,
  sumIf(session_gap_ms, is_counted) AS page_ms
FROM hits
WHERE organization_id = {p5:UUID}
  AND project_id = {p6:UUID}
  AND ts_millis >= {p7:Int64}
  AND ts_millis < {p8:Int64}
