-- POST /api/v1/intent/companies/multi
--   {"topics":["sales_force_automation","business_software"]}
--
-- p0 String = "2026-05-20"
-- p1 String = "2026-09-10"
-- p2 Array(String) = ["sales_force_automation","business_software"]
-- p3 UUID = "00000000-0000-4000-8000-000000000001"
-- p4 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p5 String = "2026-05-20"
-- p6 String = "2026-09-10"
-- p7 Array(String) = ["sales_force_automation","business_software"]
-- p8 UUID = "00000000-0000-4000-8000-000000000001"
-- p9 String = "2026-05-20"
-- p10 String = "2026-09-10"
-- p11 Array(String) = ["sales_force_automation","business_software"]
-- p12 String = "2026-08-12"
-- p13 UInt64 = 30
-- p14 UInt8 = 0
-- p15 UInt32 = 101

SELECT found.member AS member, best AS score, topics
FROM (
  SELECT member, max(score) AS best, arraySort(one -> (-toInt16(one.score), one.topic), groupArray((toString(topic), score, signals, toString(last_seen))::Tuple(topic String, score UInt8, signals UInt64, last_seen String))) AS topics
  FROM (
    SELECT member, topic, toUInt8(intDiv(200 * (84 * in_window) + ((84 * in_window) + {p13:UInt64} * before + 8400), 2 * ((84 * in_window) + {p13:UInt64} * before + 8400))) AS score, signals, last_seen
    FROM (
      SELECT member, topic, sumIf(strength, date >= toDate({p12:String})) AS in_window, sumIf(strength, date < toDate({p12:String})) AS before,
        sumIf(times, date >= toDate({p12:String})) AS signals, maxIf(date, date >= toDate({p12:String})) AS last_seen
      FROM (
        SELECT company_domain AS member, topic, date, strength, times
        FROM (
          SELECT hem_number, company_domain, topic, date, toUInt64(score) AS strength, toUInt64(1) AS times FROM intent_signals FINAL WHERE topic IN {p2:Array(String)} AND date BETWEEN toDate({p0:String}) AND toDate({p1:String})
        )
        WHERE company_domain != ''
        UNION ALL
        SELECT company_domain AS member, topic, date, strength, times
        FROM (
          SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member, hem_number, topic, date, strength, times
          FROM (
            SELECT hem_number, company_domain, topic, date, toUInt64(score) AS strength, toUInt64(1) AS times FROM intent_signals FINAL WHERE topic IN {p7:Array(String)} AND date BETWEEN toDate({p5:String}) AND toDate({p6:String})
            UNION ALL
            SELECT dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS hem_number, '' AS company_domain, topic, date, events * 100 AS strength, events AS times
            FROM intent_event_days
            WHERE organization_id = {p8:UUID} AND topic IN {p11:Array(String)} AND date BETWEEN toDate({p9:String}) AND toDate({p10:String})
              AND (date, run_id) IN (SELECT date, run_id FROM intent_event_runs FINAL WHERE organization_id = {p8:UUID})

          )
          WHERE hem_number != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p3:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p4:Array(String)}) AS hem)))
        ) AS of_people
        INNER JOIN (
          SELECT arrayJoin(arrayFilter(held -> dictGetOrDefault('person_by_hem', 'profile_number', tuple(held), held) = reinterpretAsUInt256(unhex(hem)), dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))) AS _hem_number, company_domain FROM profiles FINAL WHERE company_domain != ''
        ) AS work ON work._hem_number = of_people.hem_number
      )
      GROUP BY member, topic
      HAVING signals > 0
    )
  )

  GROUP BY member
  HAVING best >= {p14:UInt8}
) AS found

ORDER BY best DESC, found.member
LIMIT {p15:UInt32}
