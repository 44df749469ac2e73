-- GET /api/v1/analytics/conversions
--   project_id=00000000-0000-4000-8000-000000000002
--
-- p0 String = "properties"
-- p1 String = "total"
-- p2 String = "Purchase"
-- p3 String = "/docs%"
-- p4 UUID = "00000000-0000-4000-8000-000000000001"
-- p5 UUID = "00000000-0000-4000-8000-000000000002"
-- p6 Int64 = 1786449600000
-- p7 Int64 = 1789041600000

SELECT uniqExact(cookie_id) AS visitors,
  countIf(ifNull(event_name = {p2:String}, false) AS met_0) AS events_0,
  uniqExactIf(cookie_id, met_0) AS visitors_0,
  toFloat64(sumIf(ifNull(JSONExtract(event_data, {p0:String}, {p1:String}, 'Nullable(Decimal(18, 4))'), 0), met_0)) AS value_0,
  countIf(met_0 AND JSONExtract(event_data, {p0:String}, {p1:String}, 'Nullable(Decimal(18, 4))') IS NULL) AS missing_0,
  countIf(ifNull(page_path LIKE {p3:String}, false) AS met_1) AS events_1,
  uniqExactIf(cookie_id, met_1) AS visitors_1,
  0 AS value_1,
  uniqExactIf(cookie_id, met_0 OR met_1) AS converted,
  toFloat64(sumIf(ifNull(JSONExtract(event_data, {p0:String}, {p1:String}, 'Nullable(Decimal(18, 4))'), 0), met_0)) AS sum_0
FROM hits
WHERE organization_id = {p4:UUID}
  AND project_id = {p5:UUID}
  AND ts_millis >= {p6:Int64}
  AND ts_millis < {p7:Int64}
  AND NOT is_bot
