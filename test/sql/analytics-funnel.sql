-- GET /api/v1/analytics/funnel
--   project_id=00000000-0000-4000-8000-000000000002
--
-- p0 String = "/pricing"
-- p1 String = "form_submission"
-- p2 UInt64 = 2764800015
-- p3 UUID = "00000000-0000-4000-8000-000000000001"
-- p4 UUID = "00000000-0000-4000-8000-000000000002"
-- p5 Int64 = 1786449600000
-- p6 Int64 = 1789041600000

SELECT level, count() AS visitors
FROM (
  WITH ifNull(page_path = {p0:String}, false) AS step_0,
    ifNull(event_type = {p1:String}, false) AS step_1
  SELECT windowFunnelArray({p2:UInt64})(arrayMap(step -> toUInt64(toUInt64(ts_millis) * 32 + if(length(_steps) = 1, 15, 14 - step)), arrayFilter((step, isMet) -> isMet, [0, 1], [step_0, step_1]) AS _steps),
        arrayMap(step -> step = 0, _steps),
        arrayMap(step -> step = 1, _steps)) AS level
  FROM hits
  WHERE organization_id = {p3:UUID}
    AND project_id = {p4:UUID}
    AND ts_millis >= {p5:Int64}
    AND ts_millis < {p6:Int64}
    AND NOT is_bot
    AND (step_0 OR step_1)
  GROUP BY cookie_id
)
WHERE level > 0
GROUP BY level
ORDER BY level
