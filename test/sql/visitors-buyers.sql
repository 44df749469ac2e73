-- GET /api/v3/events/resolution_hem/visitors
--   start_ms=1788955200000
--   end_ms=1789041600000
--   project_id=00000000-0000-4000-8000-000000000002
--   limit=100
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "pixel"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600000
-- p5 UInt32 = 100

SELECT event_id, event_type, ts_millis, timestamp, resolved, event_data, cookie_id, user_agent, referrer_url, client_ip, pixel_id, project_id, source, campaign_id, spend, page_url, page_host, page_path, browser, browser_version, os, os_version, device_type, is_bot, bot_reason, received_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, click_id, referrer_host, country, region, city, language, screen_width, viewport_width, hem
FROM (
  SELECT event_id, event_type, ts_millis, timestamp, resolved, event_data, cookie_id, user_agent, referrer_url, client_ip, pixel_id, project_id, source, campaign_id, spend, page_url, page_host, page_path, browser, browser_version, os, os_version, device_type, is_bot, bot_reason, received_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, click_id, referrer_host, country, region, city, language, screen_width, viewport_width, hem
  FROM events
  WHERE organization_id = {p0:UUID}
    AND project_id = {p1:UUID}
    AND source = {p2:String}
    AND ts_millis >= {p3:Int64}
    AND ts_millis < {p4:Int64}
    AND (ts_millis, event_id) IN (
    SELECT ts_millis, event_id FROM (
      SELECT ts_millis, event_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS _hem_number
      FROM events
      WHERE organization_id = {p0:UUID}
        AND project_id = {p1:UUID}
        AND source = {p2:String}
        AND ts_millis >= {p3:Int64}
        AND ts_millis < {p4:Int64}
        AND _hem_number != 0
      ORDER BY ts_millis DESC, event_id DESC
      LIMIT 1 BY _hem_number
      LIMIT {p5:UInt32}
    )
  )
)
ORDER BY ts_millis DESC, event_id DESC
