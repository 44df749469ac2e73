-- GET /api/v1/analytics/journeys
--   project_id=00000000-0000-4000-8000-000000000002
--   filter=source:eq:Google
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 Int64 = 1786449600000
-- p3 Int64 = 1789216200000
-- p4 Int64 = 1786449600000
-- p5 Int64 = 1789041600000
-- p6 String = "Google"
-- p7 String = "/pricing"
-- p8 UInt8 = 4
-- p9 UInt32 = 2000

SELECT _at AS step, _journey[_at] AS from_page, _journey[_at + 1] AS to_page, _at = length(_journey) AS ends,
  count() AS sessions, sum(count()) OVER (PARTITION BY step) AS at_step
FROM (
  SELECT indexOf(_pages, {p7:String}) AS _from, arraySlice(_pages, greatest(_from, 1)) AS _begun, arraySlice(_begun, 1, {p8:UInt8} + 1) AS _journey
  FROM (
    SELECT arrayCompact(arraySort((page, event) -> event,
          groupArrayIf(ifNull(page_path, ''), event_type = 'page_view' AND page_path IS NOT NULL), groupArrayIf(session_event, event_type = 'page_view' AND page_path IS NOT NULL))) AS _pages
    FROM hits
    WHERE organization_id = {p0:UUID}
      AND project_id = {p1:UUID}
      AND ts_millis >= {p2:Int64}
      AND ts_millis < {p3:Int64}
      AND NOT is_bot
      AND ts_millis - session_ms >= {p4:Int64} AND ts_millis - session_ms < {p5:Int64}
      AND session_source = {p6:String}
      AND event_type = 'page_view' AND page_path IS NOT NULL
    GROUP BY cookie_id, is_bot, ts_millis - session_ms
  )
  WHERE notEmpty(_pages) AND _from > 0
)
ARRAY JOIN arraySlice(arrayEnumerate(_journey), 1, {p8:UInt8}) AS _at
GROUP BY step, from_page, to_page, ends
ORDER BY step, sessions DESC, from_page, to_page
LIMIT {p9:UInt32} BY step
