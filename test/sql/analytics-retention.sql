-- GET /api/v1/analytics/retention
--   project_id=00000000-0000-4000-8000-000000000002
--
-- p0 Array(Int64) = [1786320000000,1786924800000,1787529600000,1788134400000,1788739200000]
-- p1 Array(UInt8) = [0,1,2,3,4]
-- p2 UUID = "00000000-0000-4000-8000-000000000001"
-- p3 UUID = "00000000-0000-4000-8000-000000000002"
-- p4 Int64 = 1786449600000
-- p5 Int64 = 1789041600000

SELECT cohort, again, count() AS visitors
FROM (
  WITH transform(roundDown(ts_millis, {p0:Array(Int64)}), {p0:Array(Int64)}, {p1:Array(UInt8)}, toUInt8(0)) AS place,
    true AS begins,
    true AS returns
  SELECT minIf(place, begins) AS cohort, groupBitOrIf(bitShiftLeft(toUInt64(1), place), returns) AS returned
  FROM hits
  WHERE organization_id = {p2:UUID}
    AND project_id = {p3:UUID}
    AND ts_millis >= {p4:Int64}
    AND ts_millis < {p5:Int64}
    AND NOT is_bot
    AND (begins OR returns)
  GROUP BY cookie_id
  HAVING countIf(begins) > 0
)
ARRAY JOIN arrayFilter(place -> place >= cohort, bitPositionsToArray(bitOr(returned, bitShiftLeft(toUInt64(1), cohort)))) AS again
GROUP BY cohort, again
ORDER BY cohort, again
