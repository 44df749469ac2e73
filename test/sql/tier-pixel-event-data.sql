-- GET /api/v3/events/web_event
--   pixel_id=00000000-0000-4000-8000-000000000003
--   filter=event_data.plan:eq:pro
--   limit=10000
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 UUID = "00000000-0000-4000-8000-000000000003"
-- p3 String = "pixel"
-- p4 Int64 = 1788955200000
-- p5 Int64 = 1789041600000
-- p6 String = "plan"
-- p7 String = "pro"
-- p8 UInt32 = 10001

SELECT event_id, event_type, ts_millis, timestamp, resolved, event_data, cookie_id, user_agent, referrer_url, client_ip, pixel_id, project_id, source, campaign_id, spend, page_url, page_host, page_path, browser, browser_version, os, os_version, device_type, is_bot, bot_reason, received_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, click_id, referrer_host, country, region, city, language, screen_width, viewport_width
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND pixel_id = {p2:UUID}
  AND source = {p3:String}
  AND ts_millis >= {p4:Int64}
  AND ts_millis < {p5:Int64}
  AND JSONExtract(event_data, {p6:String}, 'Nullable(String)') = {p7:String}
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p8:UInt32}
SETTINGS query_plan_max_limit_for_lazy_materialization = 10001
