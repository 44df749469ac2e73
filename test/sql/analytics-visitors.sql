-- GET /api/v1/analytics/visitors
--   project_id=00000000-0000-4000-8000-000000000002
--
-- p0 UInt64 = 1
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 UUID = "00000000-0000-4000-8000-000000000002"
-- p3 Int64 = 1786449600000
-- p4 Int64 = 1789041600000
-- p5 UUID = "00000000-0000-4000-8000-000000000001"
-- p6 UInt8 = 1
-- p7 UInt32 = 101

SELECT cookie_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) != 0 AS resolved, NULL AS steps_taken,
  events, pages, first_ms, last_ms, first_source AS source, latest_country AS country, latest_device_type AS device_type, latest_browser AS browser, latest_os AS os
FROM (
  SELECT *, {p5:UUID} AS organization_id
  FROM (
    WITH true AS step_0
    SELECT windowFunnel({p0:UInt64})(toUInt64(ts_millis), step_0) AS level, cookie_id, count() AS events, countIf(event_type = 'page_view') AS pages, min(ts_millis) AS first_ms, max(ts_millis) AS last_ms, nullIf(argMin(session_source, ts_millis), 'Direct') AS first_source, nullIf(argMax(ifNull(session_country, ''), ts_millis), '') AS latest_country, nullIf(argMax(ifNull(session_device_type, ''), ts_millis), '') AS latest_device_type, nullIf(argMax(ifNull(session_browser, ''), ts_millis), '') AS latest_browser, nullIf(argMax(ifNull(session_os, ''), ts_millis), '') AS latest_os
    FROM hits
    WHERE organization_id = {p1:UUID}
      AND project_id = {p2:UUID}
      AND ts_millis >= {p3:Int64}
      AND ts_millis < {p4:Int64}
      AND NOT is_bot
    GROUP BY cookie_id
  )
)
WHERE level >= {p6:UInt8}
ORDER BY last_ms DESC, cookie_id
LIMIT {p7:UInt32}
