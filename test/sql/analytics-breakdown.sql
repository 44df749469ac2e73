-- GET /api/v1/analytics/breakdown
--   project_id=00000000-0000-4000-8000-000000000002
--   dimensions=source,entry_page,page_path
--   limit=8
--
-- p0 String = "source"
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 UUID = "00000000-0000-4000-8000-000000000002"
-- p3 Int64 = 1786449600000
-- p4 Int64 = 1789041600000
-- p5 Int64 = 1786449600000
-- p6 Int64 = 1789041600000
-- p7 String = "entry_page"
-- p8 UUID = "00000000-0000-4000-8000-000000000001"
-- p9 UUID = "00000000-0000-4000-8000-000000000002"
-- p10 Int64 = 1786449600000
-- p11 Int64 = 1789216200000
-- p12 Int64 = 1786449600000
-- p13 Int64 = 1789041600000
-- p14 String = "page_path"
-- p15 UUID = "00000000-0000-4000-8000-000000000001"
-- p16 UUID = "00000000-0000-4000-8000-000000000002"
-- p17 Int64 = 1786449600000
-- p18 Int64 = 1789041600000
-- p19 UInt32 = 9

SELECT dimension, value, events, page_views, sessions, visitors
FROM (
  SELECT {p0:String} AS dimension, value, events, page_views, sessions, visitors, visitors AS _rank
  FROM (
    SELECT toString(session_source) AS value,
      count() AS events, uniqExactIf(cookie_id, (session_event = 1 OR NOT (ts_millis - session_ms >= {p5:Int64} AND ts_millis - session_ms < {p6:Int64}))) AS visitors, countIf(event_type = 'page_view') AS page_views,
      countIf(session_event = 1) AS sessions
    FROM hits
    WHERE organization_id = {p1:UUID}
      AND project_id = {p2:UUID}
      AND ts_millis >= {p3:Int64}
      AND ts_millis < {p4:Int64}
      AND NOT is_bot
    GROUP BY value
  )
  UNION ALL
  SELECT {p7:String} AS dimension, value, events, page_views, sessions, visitors, sessions AS _rank
  FROM (
    SELECT toString(page_path) AS value, NULL AS events, NULL AS page_views, count() AS sessions, uniqExact(cookie_id) AS visitors
    FROM hits
    WHERE organization_id = {p8:UUID}
      AND project_id = {p9:UUID}
      AND ts_millis >= {p10:Int64}
      AND ts_millis < {p11:Int64}
      AND NOT is_bot
      AND ts_millis - session_ms >= {p12:Int64} AND ts_millis - session_ms < {p13:Int64}
      AND (event_type = 'page_view' AND session_page = 1)
    GROUP BY value
  )
  UNION ALL
  SELECT {p14:String} AS dimension, value, events, page_views, sessions, visitors, visitors AS _rank
  FROM (
    SELECT toString(page_path) AS value, count() AS events, uniqExact(cookie_id) AS visitors, countIf(event_type = 'page_view') AS page_views, NULL AS sessions
    FROM hits
    WHERE organization_id = {p15:UUID}
      AND project_id = {p16:UUID}
      AND ts_millis >= {p17:Int64}
      AND ts_millis < {p18:Int64}
      AND NOT is_bot
    GROUP BY value
  )
)
ORDER BY dimension, _rank DESC, events DESC, value
LIMIT {p19:UInt32} BY dimension
