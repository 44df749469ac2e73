-- GET /api/v3/events/web_event
--   project_id=00000000-0000-4000-8000-000000000002
--   select=timestamp,page_path,session_id,is_entry
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 101
-- p6 UUID = "00000000-0000-4000-8000-000000000001"
-- p7 UUID = "00000000-0000-4000-8000-000000000002"

SELECT toString(min((ts_millis, event_id)) OVER ()) AS _next, timestamp, page_path, session_id, is_entry
FROM (
  WITH page AS (
    SELECT timestamp, page_path, ts_millis, event_id, project_id, cookie_id
    FROM events
    WHERE organization_id = {p0:UUID}
      AND project_id = {p1:UUID}
      AND source = {p2:String}
      AND ts_millis >= {p3:Int64}
      AND ts_millis < {p4:Int64}
    ORDER BY ts_millis DESC, event_id DESC
    LIMIT {p5:UInt32}
  )
  SELECT timestamp, page_path, session_id, is_entry, ts_millis, event_id
  FROM page AS visits GLOBAL ANY LEFT JOIN (
    SELECT project_id AS _project_id, cookie_id AS _cookie_id, ts_millis AS _ts_millis, event_key AS _event_key,
      toNullable(reinterpretAsUUID(sipHash128(project_id, cookie_id, is_bot, ts_millis - session_ms))) AS session_id, CAST((event_type = 'page_view' AND session_page = 1), 'Nullable(Bool)') AS is_entry
    FROM hits
    WHERE organization_id = {p6:UUID}
      AND project_id = {p7:UUID}
      AND (project_id, ts_millis, cookie_id) IN (SELECT project_id, ts_millis, cookie_id FROM page)
  ) AS sessions ON sessions._project_id = visits.project_id AND sessions._cookie_id = visits.cookie_id
    AND sessions._ts_millis = visits.ts_millis AND sessions._event_key = toUInt32(cityHash64(event_id))
  ORDER BY ts_millis DESC, event_id DESC
)
ORDER BY ts_millis DESC, event_id DESC
