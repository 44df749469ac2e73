-- Archive of a project: the file of an hour, 39 columns
--
-- p0 Int64 = 1789038000000
-- p1 Int64 = 1789042200000
-- p2 UUID = "00000000-0000-4000-8000-000000000001"
-- p3 UUID = "00000000-0000-4000-8000-000000000002"
-- p4 Int64 = 1788955200000
-- p5 Int64 = 1789038600000
-- p6 Int64 = 1789038000000

SELECT CAST(page.event_id, 'String') AS event_id, CAST(page.event_type, 'String') AS event_type, CAST(page.ts_millis, 'Int64') AS ts_millis, CAST(page.timestamp, 'DateTime64(3, \'UTC\')') AS timestamp, CAST(page.event_data, 'String') AS event_data, CAST(page.cookie_id, 'String') AS cookie_id, CAST(page.user_agent, 'Nullable(String)') AS user_agent, CAST(page.referrer_url, 'Nullable(String)') AS referrer_url, CAST(page.client_ip, 'Nullable(String)') AS client_ip, CAST(page.pixel_id, 'Nullable(String)') AS pixel_id, CAST(page.project_id, 'String') AS project_id, CAST(page.source, 'String') AS source, CAST(page.campaign_id, 'Nullable(String)') AS campaign_id, CAST(page.spend, 'Nullable(Float64)') AS spend, CAST(page.page_url, 'Nullable(String)') AS page_url, CAST(page.page_host, 'Nullable(String)') AS page_host, CAST(page.page_path, 'Nullable(String)') AS page_path, CAST(page.browser, 'Nullable(String)') AS browser, CAST(page.browser_version, 'Nullable(String)') AS browser_version, CAST(page.os, 'Nullable(String)') AS os, CAST(page.os_version, 'Nullable(String)') AS os_version, CAST(page.device_type, 'Nullable(String)') AS device_type, CAST(page.is_bot, 'Bool') AS is_bot, CAST(page.bot_reason, 'Nullable(String)') AS bot_reason, CAST(page.received_at, 'DateTime64(3, \'UTC\')') AS received_at, CAST(page.utm_source, 'Nullable(String)') AS utm_source, CAST(page.utm_medium, 'Nullable(String)') AS utm_medium, CAST(page.utm_campaign, 'Nullable(String)') AS utm_campaign, CAST(page.utm_term, 'Nullable(String)') AS utm_term, CAST(page.utm_content, 'Nullable(String)') AS utm_content, CAST(page.click_id_type, 'Nullable(String)') AS click_id_type, CAST(page.click_id, 'Nullable(String)') AS click_id, CAST(page.referrer_host, 'Nullable(String)') AS referrer_host, CAST(page.country, 'Nullable(String)') AS country, CAST(page.region, 'Nullable(String)') AS region, CAST(page.city, 'Nullable(String)') AS city, CAST(page.language, 'Nullable(String)') AS language, CAST(page.screen_width, 'Nullable(Int64)') AS screen_width, CAST(page.viewport_width, 'Nullable(Int64)') AS viewport_width
FROM (
  SELECT event_id, event_type, ts_millis, timestamp, event_data, cookie_id, user_agent, referrer_url, client_ip, pixel_id, project_id, source, campaign_id, spend, page_url, page_host, page_path, browser, browser_version, os, os_version, device_type, is_bot, bot_reason, received_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, click_id, referrer_host, country, region, city, language, screen_width, viewport_width FROM events
  WHERE organization_id = {p2:UUID} AND project_id = {p3:UUID}
    AND source = 'pixel' AND ts_millis >= {p4:Int64} AND ts_millis < {p0:Int64} + 3600000
    AND received_at < fromUnixTimestamp64Milli({p1:Int64}, 'UTC') AND (ts_millis >= {p0:Int64} OR received_at >= fromUnixTimestamp64Milli({p5:Int64}, 'UTC')) AND ts_millis >= {p6:Int64} AND ts_millis < {p6:Int64} + 3600000
) AS page
ORDER BY page.ts_millis, page.event_id
