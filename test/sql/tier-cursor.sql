-- GET /api/v3/events/web_event
--   project_id=00000000-0000-4000-8000-000000000002
--   cursor=next_cursor of the previous page
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 Int64 = 1789038000000
-- p6 UUID = "00000000-0000-4000-8000-000000000005"
-- p7 UInt32 = 101

SELECT event_id, event_type, ts_millis, timestamp, resolved, event_data, cookie_id, user_agent, referrer_url, client_ip, pixel_id, project_id, source, campaign_id, spend, page_url, page_host, page_path, browser, browser_version, os, os_version, device_type, is_bot, bot_reason, received_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, click_id, referrer_host, country, region, city, language, screen_width, viewport_width
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
  AND ts_millis <= {p5:Int64}
  AND (ts_millis, event_id) <= ({p5:Int64}, {p6:UUID})
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p7:UInt32}
