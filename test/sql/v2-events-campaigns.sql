-- GET /api/v2/events
--   start_ms=1788955200000
--   end_ms=1789041600000
--   project_id=00000000-0000-4000-8000-000000000002
--   source=svcdsp
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 UUID = "00000000-0000-4000-8000-000000000002"
-- p2 String = "svcdsp"
-- p3 Int64 = 1788955200000
-- p4 Int64 = 1789041600001
-- p5 UInt32 = 101

WITH dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS _hem_number, dictGetOrDefault('person_by_hem', 'profile_number', tuple(_hem_number), _hem_number) AS _profile_number, dictGetOrDefault('profile_by_hem', ('hem_number', 'pte', 'profile'), toUInt64(_profile_number), (toUInt256(0), '', ''))::Tuple(hem_number UInt256, pte String, profile String) AS _person
SELECT event_id, event_type, ts_millis, timestamp, CAST(_hem_number != 0, 'Nullable(Bool)') AS resolved, event_data, cookie_id, user_agent, referrer_url, client_ip, nullIf(pixel_id, toUUID('00000000-0000-0000-0000-000000000000')) AS pixel_id, project_id, source, campaign_id, spend, page_url, page_host, page_path, browser, browser_version, os, os_version, device_type, is_bot, bot_reason, received_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, click_id_type, click_id, referrer_host, country, region, city, language, screen_width, viewport_width, CAST(if(_hem_number = 0, NULL, lower(hex(reinterpretAsFixedString(_hem_number)))), 'Nullable(String)') AS hem, multiIf(_hem_number = 0, '', _person.hem_number = _profile_number, _person.pte, ',"pte_person_id":null,"pte_household_id":null,"maid":null,"uid2":null,"id5_id":null,"ramp_id":null') AS _pte, multiIf(_hem_number = 0, '', _person.hem_number = _profile_number, _person.profile, ',"first_name":null,"middle_name":null,"last_name":null,"full_name":null,"email":null,"email_status":null,"email_verified_at":null,"business_email":null,"personal_email":null,"additional_emails":null,"phone":null,"direct_phone":null,"mobile_phone":null,"do_not_call":null,"home_phone":null,"linkedin_url":null,"linkedin_headline":null,"twitter_url":null,"facebook_url":null,"github_url":null,"job_title":null,"job_seniority":null,"job_department":null,"job_function":null,"job_is_decision_maker":null,"job_start_year":null,"job_city":null,"job_region":null,"job_country":null,"previous_job_title":null,"previous_company_name":null,"years_of_experience":null,"skills":null,"company_name":null,"company_legal_name":null,"company_domain":null,"company_website_url":null,"company_description":null,"company_industry":null,"company_sub_industry":null,"company_naics_code":null,"company_sic_code":null,"company_type":null,"company_stock_symbol":null,"company_stock_exchange":null,"company_founded_year":null,"company_employee_count":null,"company_employee_range":null,"company_employee_growth":null,"company_revenue_usd":null,"company_revenue_range":null,"company_funding_total_usd":null,"company_funding_stage":null,"company_phone":null,"company_street_address":null,"company_city":null,"company_region":null,"company_postal_code":null,"company_country":null,"company_linkedin_url":null,"company_twitter_url":null,"company_facebook_url":null,"company_technologies":null,"company_keywords":null,"company_parent_domain":null,"company_sells_to_businesses":null,"company_sells_to_consumers":null,"gender":null,"birth_year":null,"age":null,"age_range":null,"generation":null,"marital_status":null,"has_children":null,"children_count":null,"household_size":null,"household_income_range":null,"income_range":null,"net_worth_range":null,"credit_rating":null,"education_level":null,"occupation":null,"home_language":null,"is_home_owner":null,"dwelling_type":null,"home_value_usd":null,"residence_years":null,"home_street_address":null,"home_city":null,"home_region":null,"home_postal_code":null,"home_country":null,"home_latitude":null,"home_longitude":null,"timezone":null,"interests":null,"purchase_categories":null,"is_online_shopper":null,"is_investor":null,"is_donor":null,"is_traveler":null,"is_pet_owner":null,"vehicle_make":null') AS _profile
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND source = {p2:String}
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p5:UInt32}
