-- POST /api/v1/intent/batch
--   {"items":[{"hem":"b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"},{"hem":"b533d4547eaa5a0fa955965a1ca393ccd2ea013032a105726f232eb41bddc4fa"}]}
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p2 String = "2026-05-20"
-- p3 String = "2026-09-10"
-- p4 UUID = "00000000-0000-4000-8000-000000000001"
-- p5 String = "2026-05-20"
-- p6 String = "2026-09-10"
-- p7 String = "2026-08-12"
-- p8 UInt64 = 30
-- asked_hems: table of 2 texts, b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72, b533d4547eaa5a0fa955965a1ca393ccd2ea013032a105726f232eb41bddc4fa

WITH (SELECT groupUniqArrayArray(dictGetOrDefault('person_by_hem', 'hems', tuple(hem_number), [hem_number])) FROM (SELECT value AS hem, reinterpretAsUInt256(unhex(value)) AS hem_number FROM asked_hems)) AS held_hems
SELECT hem, topics
FROM (SELECT hem, dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member FROM (SELECT value AS hem, reinterpretAsUInt256(unhex(value)) AS hem_number FROM asked_hems)) AS asked
INNER JOIN (
  SELECT member, arraySort(one -> (-toInt16(one.score), one.topic), groupArray((toString(topic), score, signals, toString(last_seen))::Tuple(topic String, score UInt8, signals UInt64, last_seen String))) AS topics
  FROM (
    SELECT member, topic, toUInt8(intDiv(200 * (84 * in_window) + ((84 * in_window) + {p8:UInt64} * before + 8400), 2 * ((84 * in_window) + {p8:UInt64} * before + 8400))) AS score, signals, last_seen
    FROM (
      SELECT member, topic, sumIf(strength, date >= toDate({p7:String})) AS in_window, sumIf(strength, date < toDate({p7:String})) AS before,
        sumIf(times, date >= toDate({p7:String})) AS signals, maxIf(date, date >= toDate({p7:String})) AS last_seen
      FROM (
        SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member, hem_number, topic, date, strength, times
        FROM (
          SELECT hem_number, '' AS company_domain, topic, date, toUInt64(score) AS strength, toUInt64(1) AS times FROM intent_signals_by_person FINAL
          WHERE hem_key IN (SELECT toUInt64(hem_number) FROM (SELECT arrayJoin(held_hems) AS hem_number)) AND hem_number IN (SELECT arrayJoin(held_hems) AS hem_number) AND date BETWEEN toDate({p2:String}) AND toDate({p3:String})
          UNION ALL
          SELECT dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS hem_number, '' AS company_domain, topic, date, events * 100 AS strength, events AS times
          FROM intent_event_days
          WHERE organization_id = {p4:UUID} AND date BETWEEN toDate({p5:String}) AND toDate({p6:String})
            AND (date, run_id) IN (SELECT date, run_id FROM intent_event_runs FINAL WHERE organization_id = {p4:UUID})
            AND dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) IN (SELECT arrayJoin(held_hems) AS hem_number)
        )
        WHERE hem_number != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p0:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p1:Array(String)}) AS hem)))
      )
      GROUP BY member, topic
      HAVING signals > 0
    )
  )
  GROUP BY member
) AS found ON asked.member = found.member
