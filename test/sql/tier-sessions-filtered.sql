-- GET /api/v3/events/web_event
--   project_id=00000000-0000-4000-8000-000000000002
--   filter=is_entry:eq:true
--   select=timestamp,page_path
--
-- p0 Int64 = 1788955200000
-- p1 Int64 = 1789041600000
-- p2 UUID = "00000000-0000-4000-8000-000000000001"
-- p3 UUID = "00000000-0000-4000-8000-000000000002"
-- p4 UUID = "00000000-0000-4000-8000-000000000001"
-- p5 UUID = "00000000-0000-4000-8000-000000000002"
-- p6 String = "pixel"
-- p7 Int64 = 1788955200000
-- p8 Int64 = 1789041600000
-- p9 Bool = true
-- p10 UInt32 = 101

SELECT toString(min((ts_millis, event_id)) OVER ()) AS _next, timestamp, page_path
FROM (
  SELECT timestamp, page_path, ts_millis, event_id
  FROM events AS visits GLOBAL ANY LEFT JOIN (
    SELECT project_id AS _project_id, cookie_id AS _cookie_id, ts_millis AS _ts_millis, event_key AS _event_key,
      toNullable(reinterpretAsUUID(sipHash128(project_id, cookie_id, is_bot, ts_millis - session_ms))) AS session_id, CAST((event_type = 'page_view' AND session_page = 1), 'Nullable(Bool)') AS is_entry
    FROM hits
    WHERE organization_id = {p2:UUID}
      AND project_id = {p3:UUID}
      AND ts_millis >= {p0:Int64}
      AND ts_millis < {p1:Int64}
  ) AS sessions ON sessions._project_id = visits.project_id AND sessions._cookie_id = visits.cookie_id
    AND sessions._ts_millis = visits.ts_millis AND sessions._event_key = toUInt32(cityHash64(event_id))
  WHERE organization_id = {p4:UUID}
    AND project_id = {p5:UUID}
    AND source = {p6:String}
    AND ts_millis >= {p7:Int64}
    AND ts_millis < {p8:Int64}
    AND is_entry = {p9:Bool}
  ORDER BY ts_millis DESC, event_id DESC
  LIMIT {p10:UInt32}
)
ORDER BY ts_millis DESC, event_id DESC
