-- GET /api/v1/analytics/overview
--   project_id=00000000-0000-4000-8000-000000000002
--   filter=page_path:eq:/pricing,resolved:eq:true
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 Int64 = 1786449600000
-- p3 Int64 = 1789041600000
-- p4 String = "/pricing"
-- p5 UUID = "00000000-0000-4000-8000-000000000001"
-- p6 UUID = "00000000-0000-4000-8000-000000000002"
-- p7 String = "pixel"
-- p8 Int64 = 1786449600000
-- p9 Int64 = 1789041600000
-- p10 Bool = true
-- p11 UUID = "00000000-0000-4000-8000-000000000001"
-- p12 UUID = "00000000-0000-4000-8000-000000000002"
-- p13 Int64 = 1786449600000
-- p14 Int64 = 1789216200000
-- p15 Int64 = 1786449600000
-- p16 Int64 = 1789041600000
-- p17 String = "/pricing"
-- p18 UUID = "00000000-0000-4000-8000-000000000001"
-- p19 UUID = "00000000-0000-4000-8000-000000000002"
-- p20 String = "pixel"
-- p21 Int64 = 1786449600000
-- p22 Int64 = 1789216200000
-- p23 Bool = true

SELECT *
FROM (
  SELECT countIf(NOT is_bot) AS events, uniqExactIf(cookie_id, NOT is_bot) AS visitors, countIf(event_type = 'page_view' AND NOT is_bot) AS page_views,
    countIf(is_bot) AS bot_events, uniqExactIf(cookie_id, is_bot) AS bot_visitors, countIf(event_type = 'page_view' AND is_bot) AS bot_page_views
  FROM hits
  WHERE organization_id = {p0:UUID}
    AND project_id = {p1:UUID}
    AND ts_millis >= {p2:Int64}
    AND ts_millis < {p3:Int64}
    AND page_path = {p4:String}
    AND (project_id, cookie_id, ts_millis, event_key) IN (SELECT project_id, cookie_id, ts_millis, toUInt32(cityHash64(event_id)) AS event_key
    FROM events
    WHERE organization_id = {p5:UUID}
      AND project_id = {p6:UUID}
      AND source = {p7:String}
      AND ts_millis >= {p8:Int64}
      AND ts_millis < {p9:Int64}
      AND resolved = {p10:Bool})
) AS totals, (
  SELECT count() AS sessions, countIf(_pages > 0) AS viewing_sessions, countIf(_pages = 1) AS bounced_sessions,
    sum(arraySum(_views_met)) AS viewed_pages,
    sum(arraySum((gap, view) -> if(view > 0, gap * _views_met[view], 0), _gaps, _gap_views)) AS page_ms
  FROM (
    WITH ifNull(page_path = {p17:String}, false) AND ifNull((project_id, cookie_id, ts_millis, event_key) IN (SELECT project_id, cookie_id, ts_millis, toUInt32(cityHash64(event_id)) AS event_key
        FROM events
        WHERE organization_id = {p18:UUID}
          AND project_id = {p19:UUID}
          AND source = {p20:String}
          AND ts_millis >= {p21:Int64}
          AND ts_millis < {p22:Int64}
          AND NOT is_bot
          AND resolved = {p23:Bool}), false) AS _meets
    SELECT max(session_page) AS _pages, arraySort((met, view) -> view, groupArrayIf(_meets, event_type = 'page_view'), groupArrayIf(session_page, event_type = 'page_view')) AS _views_met,
      groupArray(session_gap_ms) AS _gaps, groupArray(session_page - (event_type = 'page_view')) AS _gap_views
    FROM hits
    WHERE organization_id = {p11:UUID}
      AND project_id = {p12:UUID}
      AND ts_millis >= {p13:Int64}
      AND ts_millis < {p14:Int64}
      AND NOT is_bot
      AND ts_millis - session_ms >= {p15:Int64} AND ts_millis - session_ms < {p16:Int64}
      AND (cookie_id, is_bot, ts_millis - session_ms) IN (
      SELECT cookie_id, is_bot, ts_millis - session_ms
      FROM hits
      WHERE organization_id = {p11:UUID}
        AND project_id = {p12:UUID}
        AND ts_millis >= {p13:Int64}
        AND ts_millis < {p14:Int64}
        AND NOT is_bot
        AND ts_millis - session_ms >= {p15:Int64} AND ts_millis - session_ms < {p16:Int64}
        AND ifNull(page_path = {p17:String}, false) AND ifNull((project_id, cookie_id, ts_millis, event_key) IN (SELECT project_id, cookie_id, ts_millis, toUInt32(cityHash64(event_id)) AS event_key
          FROM events
          WHERE organization_id = {p18:UUID}
            AND project_id = {p19:UUID}
            AND source = {p20:String}
            AND ts_millis >= {p21:Int64}
            AND ts_millis < {p22:Int64}
            AND NOT is_bot
            AND resolved = {p23:Bool}), false)
    )
    GROUP BY cookie_id, is_bot, ts_millis - session_ms
    HAVING countIf(_meets) > 0
  )
) AS sessions
