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
-- p5 String = "entry_page"
-- p6 UUID = "00000000-0000-4000-8000-000000000001"
-- p7 UUID = "00000000-0000-4000-8000-000000000002"
-- p8 Int64 = 1786449600000
-- p9 Int64 = 1789216200000
-- p10 Int64 = 1786449600000
-- p11 Int64 = 1789041600000
-- p12 String = "page_path"
-- p13 UUID = "00000000-0000-4000-8000-000000000001"
-- p14 UUID = "00000000-0000-4000-8000-000000000002"
-- p15 Int64 = 1786449600000
-- p16 Int64 = 1789041600000
-- p17 UInt32 = 9

SELECT dimension, value, events, page_views, sessions, visitors
FROM (
  SELECT {p0:String} AS dimension, value, events, page_views, sessions, visitors, visitors AS _rank
  FROM (
    SELECT toString(session_source) AS value,
      count() AS events, uniqExact(cookie_id) AS visitors, countIf(event_type = 'page_view') AS page_views,
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
  SELECT {p5:String} AS dimension, value, events, page_views, sessions, visitors, sessions AS _rank
  FROM (
    SELECT toString(page_path) AS value, NULL AS events, NULL AS page_views, count() AS sessions, uniqExact(cookie_id) AS visitors
    FROM hits
    WHERE organization_id = {p6:UUID}
      AND project_id = {p7:UUID}
      AND ts_millis >= {p8:Int64}
      AND ts_millis < {p9:Int64}
      AND NOT is_bot
      AND ts_millis - session_ms >= {p10:Int64} AND ts_millis - session_ms < {p11:Int64}
      AND (event_type = 'page_view' AND session_page = 1)
    GROUP BY value
  )
  UNION ALL
  SELECT {p12:String} AS dimension, value, events, page_views, sessions, visitors, visitors AS _rank
  FROM (
    SELECT toString(page_path) AS value, count() AS events, uniqExact(cookie_id) AS visitors, countIf(event_type = 'page_view') AS page_views, NULL AS sessions
    FROM hits
    WHERE organization_id = {p13:UUID}
      AND project_id = {p14:UUID}
      AND ts_millis >= {p15:Int64}
      AND ts_millis < {p16:Int64}
      AND NOT is_bot
    GROUP BY value
  )
)
ORDER BY dimension, _rank DESC, events DESC, value
LIMIT {p17:UInt32} BY dimension
