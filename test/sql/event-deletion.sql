-- POST /api/v1/event-deletions
--   {"project_id":"00000000-0000-4000-8000-000000000002","start_ms":1788955200000,"end_ms":1789041600000,"filter":"page_url:like:%/staging/%"}
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 String = "%/staging/%"
-- p6 Int64 = 1789041600000

ALTER TABLE events DELETE WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
  AND page_url LIKE {p5:String}
  AND received_at < fromUnixTimestamp64Milli({p6:Int64}, 'UTC')
