-- GET /api/v1/analytics/breakdown
--   project_id=00000000-0000-4000-8000-000000000002
--   dimensions=source,exit_page,screen_width
--   goal=Ordered
--   pixel_id=00000000-0000-4000-8000-000000000003
--   limit=8
--
-- p0 String = "source"
-- p1 String = "properties"
-- p2 String = "total"
-- p3 UUID = "00000000-0000-4000-8000-000000000001"
-- p4 UUID = "00000000-0000-4000-8000-000000000002"
-- p5 Int64 = 1786449600000
-- p6 Int64 = 1789216200000
-- p7 UUID = "00000000-0000-4000-8000-000000000003"
-- p8 Int64 = 1789041600000
-- p9 Int64 = 1786449600000
-- p10 Int64 = 1789041600000
-- p11 String = "Purchase"
-- p12 String = "exit_page"
-- p13 UUID = "00000000-0000-4000-8000-000000000001"
-- p14 UUID = "00000000-0000-4000-8000-000000000002"
-- p15 Int64 = 1786449600000
-- p16 Int64 = 1789216200000
-- p17 Int64 = 1786449600000
-- p18 Int64 = 1789041600000
-- p19 String = "properties"
-- p20 String = "total"
-- p21 UUID = "00000000-0000-4000-8000-000000000003"
-- p22 String = "Purchase"
-- p23 String = "screen_width"
-- p24 UUID = "00000000-0000-4000-8000-000000000001"
-- p25 UUID = "00000000-0000-4000-8000-000000000002"
-- p26 UUID = "00000000-0000-4000-8000-000000000003"
-- p27 String = "pixel"
-- p28 Int64 = 1786449600000
-- p29 Int64 = 1789041600000
-- p30 String = "properties"
-- p31 String = "total"
-- p32 UUID = "00000000-0000-4000-8000-000000000001"
-- p33 UUID = "00000000-0000-4000-8000-000000000002"
-- p34 Int64 = 1786449600000
-- p35 Int64 = 1789041600000
-- p36 UUID = "00000000-0000-4000-8000-000000000003"
-- p37 String = "Purchase"
-- p38 UUID = "00000000-0000-4000-8000-000000000001"
-- p39 UUID = "00000000-0000-4000-8000-000000000002"
-- p40 UUID = "00000000-0000-4000-8000-000000000003"
-- p41 String = "pixel"
-- p42 Int64 = 1786449600000
-- p43 Int64 = 1789041600000
-- p44 UUID = "00000000-0000-4000-8000-000000000001"
-- p45 UUID = "00000000-0000-4000-8000-000000000002"
-- p46 Int64 = 1786449600000
-- p47 Int64 = 1789041600000
-- p48 UUID = "00000000-0000-4000-8000-000000000003"
-- p49 UInt32 = 9

SELECT dimension, value, events, page_views, sessions, visitors, goal_events, goal_visitors, goal_value
FROM (
  SELECT {p0:String} AS dimension, value, events, page_views, sessions, visitors, goal_events, goal_visitors, goal_value, visitors AS _rank
  FROM (
    SELECT toString(session_source) AS value,
      countIf(ts_millis < {p8:Int64}) AS events, uniqExactIf(cookie_id, ts_millis < {p8:Int64}) AS visitors, countIf(event_type = 'page_view' AND ts_millis < {p8:Int64}) AS page_views,
      uniqExactIf((cookie_id, is_bot, ts_millis - session_ms), ts_millis - session_ms >= {p9:Int64} AND ts_millis - session_ms < {p10:Int64}) AS sessions,
      countIf(ts_millis < {p8:Int64} AND ifNull(event_name = {p11:String}, false)) AS goal_events,
      uniqExactIf(cookie_id, ts_millis < {p8:Int64} AND ifNull(event_name = {p11:String}, false)) AS goal_visitors,
      toFloat64(sumIf(ifNull(JSONExtract(event_data, {p1:String}, {p2:String}, 'Nullable(Decimal(18, 4))'), 0), ts_millis < {p8:Int64} AND ifNull(event_name = {p11:String}, false))) AS goal_value
    FROM hits
    WHERE organization_id = {p3:UUID}
      AND project_id = {p4:UUID}
      AND ts_millis >= {p5:Int64}
      AND ts_millis < {p6:Int64}
      AND NOT is_bot
      AND pixel_id = {p7:UUID}
    GROUP BY value
    HAVING events + sessions > 0
  )
  UNION ALL
  SELECT {p12:String} AS dimension, value, events, page_views, sessions, visitors, goal_events, goal_visitors, goal_value, sessions AS _rank
  FROM (
    SELECT value, NULL AS events, NULL AS page_views, count() AS sessions, uniqExact(cookie_id) AS visitors, sum(_reached) AS goal_events, uniqExactIf(cookie_id, _reached > 0) AS goal_visitors, sum(_value) AS goal_value
    FROM (
      SELECT cookie_id,
        nullIf(argMaxIf(ifNull(page_path, ''), session_page, event_type = 'page_view'), '') AS value,
        countIf(ifNull(pixel_id = {p21:UUID}, false) AND ifNull(event_name = {p22:String}, false)) AS _reached,
        toFloat64(sumIf(ifNull(JSONExtract(event_data, {p19:String}, {p20:String}, 'Nullable(Decimal(18, 4))'), 0), ifNull(pixel_id = {p21:UUID}, false) AND ifNull(event_name = {p22:String}, false))) AS _value
      FROM hits
      WHERE organization_id = {p13:UUID}
        AND project_id = {p14:UUID}
        AND ts_millis >= {p15:Int64}
        AND ts_millis < {p16:Int64}
        AND NOT is_bot
        AND ts_millis - session_ms >= {p17:Int64} AND ts_millis - session_ms < {p18:Int64}
      GROUP BY cookie_id, is_bot, ts_millis - session_ms
      HAVING max(session_page) > 0 AND countIf(ifNull(pixel_id = {p21:UUID}, false)) > 0
    )
    GROUP BY value
  )
  UNION ALL
  SELECT {p23:String} AS dimension, value, events, page_views, sessions, visitors, goal_events, goal_visitors, goal_value, visitors AS _rank
  FROM (
    SELECT valued.value AS value, events, page_views, sessions, visitors, goal_events, goal_visitors, goal_value
    FROM (
      SELECT toString(_value_0) AS value, count() AS events, uniqExact(cookie_id) AS visitors, countIf(event_type = 'page_view') AS page_views, NULL AS sessions
      FROM hits ANY LEFT JOIN (
        SELECT project_id, cookie_id, ts_millis, toUInt32(cityHash64(event_id)) AS event_key, screen_width AS _value_0
        FROM events
        WHERE organization_id = {p38:UUID}
          AND project_id = {p39:UUID}
          AND pixel_id = {p40:UUID}
          AND source = {p41:String}
          AND ts_millis >= {p42:Int64}
          AND ts_millis < {p43:Int64}
          AND NOT is_bot
      ) AS events USING (project_id, cookie_id, ts_millis, event_key)
      WHERE organization_id = {p44:UUID}
        AND project_id = {p45:UUID}
        AND ts_millis >= {p46:Int64}
        AND ts_millis < {p47:Int64}
        AND NOT is_bot
        AND pixel_id = {p48:UUID}
      GROUP BY value
    ) AS valued LEFT JOIN (
      SELECT value, sum(_reached) AS goal_events, count() AS goal_visitors, sum(_value) AS goal_value
      FROM (
        SELECT DISTINCT toString(_value_0) AS value, cookie_id
        FROM hits ANY LEFT JOIN (
          SELECT project_id, cookie_id, ts_millis, toUInt32(cityHash64(event_id)) AS event_key, screen_width AS _value_0
          FROM events
          WHERE organization_id = {p24:UUID}
            AND project_id = {p25:UUID}
            AND pixel_id = {p26:UUID}
            AND source = {p27:String}
            AND ts_millis >= {p28:Int64}
            AND ts_millis < {p29:Int64}
            AND NOT is_bot
        ) AS events USING (project_id, cookie_id, ts_millis, event_key)
        WHERE organization_id = {p32:UUID}
          AND project_id = {p33:UUID}
          AND ts_millis >= {p34:Int64}
          AND ts_millis < {p35:Int64}
          AND NOT is_bot
          AND pixel_id = {p36:UUID}
      ) AS seen INNER JOIN (
        SELECT cookie_id, count() AS _reached, toFloat64(sumIf(ifNull(JSONExtract(event_data, {p30:String}, {p31:String}, 'Nullable(Decimal(18, 4))'), 0), true)) AS _value
        FROM hits
        WHERE organization_id = {p32:UUID}
          AND project_id = {p33:UUID}
          AND ts_millis >= {p34:Int64}
          AND ts_millis < {p35:Int64}
          AND NOT is_bot
          AND pixel_id = {p36:UUID}
          AND ifNull(event_name = {p37:String}, false)
        GROUP BY cookie_id
      ) AS reaching USING (cookie_id)
      GROUP BY value
    ) AS reached ON valued.value <=> reached.value
  )
)
ORDER BY dimension, _rank DESC, events DESC, value
LIMIT {p49:UInt32} BY dimension
