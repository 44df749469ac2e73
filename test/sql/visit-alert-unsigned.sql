-- Visit alert, people with only unsigned links
-- {"kind":"company","company_domain":"acme.example"}
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p2 UUID = "00000000-0000-4000-8000-000000000001"
-- p3 UUID = "00000000-0000-4000-8000-000000000002"
-- p4 String = "pixel"
-- p5 Int64 = 1789041540000
-- p6 Int64 = 1789041600000
-- p7 Int64 = 1789037940000
-- p8 String = "acme.example"
-- p9 UInt32 = 500

SELECT lower(hex(reinterpretAsFixedString(person))) AS hem, toString(_day) AS day,
  toString(argMin(_event, (_received, _event))) AS event_id,
  toFloat64(argMin(_millis, (_received, _event))) AS ts_millis,
  toFloat64(toUnixTimestamp64Milli(min(_received))) AS received_ms
FROM (
    SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id))))), dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id))))) AS person, event_id AS _event, ts_millis AS _millis,
      received_at AS _received, toDate(received_at, 'UTC') AS _day FROM events
    WHERE organization_id = {p2:UUID}
      AND project_id = {p3:UUID}
      AND source = {p4:String}
      AND received_at >= fromUnixTimestamp64Milli({p5:Int64}, 'UTC')
      AND received_at < fromUnixTimestamp64Milli({p6:Int64}, 'UTC')
      AND NOT is_bot
      AND ts_millis >= {p7:Int64}
      AND dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) != 0
      AND NOT (dictGetOrDefault('identity_by_cookie_lately', 'is_vouched', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'is_vouched', (organization_id, cookie_id), dictGet('identity_by_cookie', 'is_vouched', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) != 0)
      AND NOT (dictGetOrDefault('person_by_hem', 'person_number', tuple(dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id))))), dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id))))) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p0:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p1:Array(String)}) AS hem))))
      AND dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) IN (SELECT arrayJoin(arrayFilter(held -> dictGetOrDefault('person_by_hem', 'profile_number', tuple(held), held) = reinterpretAsUInt256(unhex(hem)), dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))) FROM profiles FINAL WHERE lower(company_domain) = {p8:String})
)
GROUP BY person, _day

ORDER BY received_ms, hem
LIMIT {p9:UInt32}
