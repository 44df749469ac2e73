-- Build of an audience, queue audiences.builds
-- {"entity":"people","include":{"all":[{"any":[{"profile":{"field":"job_title","op":"like","value":"%engineer%"}},{"event":{"event_type":"page_view","filter":"page_path:eq:/pricing","at_least":3,"within_days":30}}]},{"intent":{"topics":["sales_force_automation","business_software"],"match":"any","min_score":50}},{"not":{"list":{"list_id":"00000000-0000-4000-8000-000000000008"}}}]},"exclude":{"audience":{"audience_id":"00000000-0000-4000-8000-000000000010"}},"limit":1000}
--
-- p0 UUID = "00000000-0000-4000-8000-000000000006"
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 String = "2026-08-11"
-- p3 UUID = "d8bc0b07-5394-81c6-b748-8c4e4e4870c6"
-- p4 UInt32 = 3
-- p5 UUID = "00000000-0000-4000-8000-000000000001"
-- p6 Array(UUID) = ["d8bc0b07-5394-81c6-b748-8c4e4e4870c6","d8bc0b07-5394-81c6-b748-8c4e4e4870c6"]
-- p7 Array(Date) = ["2026-09-09","2026-09-10"]
-- p8 Array(UUID) = ["00000000-0000-4000-8000-000000000011","00000000-0000-4000-8000-000000000011"]
-- p9 Array(UUID) = ["d8bc0b07-5394-81c6-b748-8c4e4e4870c6"]
-- p10 String = "%engineer%"
-- p11 UUID = "00000000-0000-4000-8000-000000000007"
-- p12 UUID = "00000000-0000-4000-8000-000000000008"
-- p13 Array(UUID) = []
-- p14 Array(String) = ["sales_force_automation","business_software"]
-- p15 UInt8 = 50
-- p16 UUID = "00000000-0000-4000-8000-000000000001"
-- p17 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p18 String = "2026-05-20"
-- p19 String = "2026-09-10"
-- p20 Array(String) = ["sales_force_automation","business_software"]
-- p21 UUID = "00000000-0000-4000-8000-000000000001"
-- p22 String = "2026-05-20"
-- p23 String = "2026-09-10"
-- p24 Array(String) = ["sales_force_automation","business_software"]
-- p25 String = "2026-08-12"
-- p26 UInt64 = 30
-- p27 UUID = "00000000-0000-4000-8000-000000000001"
-- p28 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p29 UInt64 = 1000
-- p30 Int64 = 1789041615000
-- p31 String = "00000000-0000-4000-8000-000000000006"

INSERT INTO audience_members (build_id, organization_id, key, hem_number, company_domain, bucket)
SELECT {p0:UUID}, {p1:UUID}, toInt64(rowNumberInAllBlocks() + 1), member, '', bucket
FROM (
  SELECT member, bucket FROM (
    SELECT one AS member, groupBitOr(bits) AS met, max(interest) AS bucket
    FROM (
      SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(member), member) AS one, bits, bucket AS interest
      FROM (
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member, bitShiftLeft(toUInt64(ifNull(sum(events_1) >= {p4:UInt32}, false)), 1) AS bits
          FROM (
            SELECT dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS hem_number, events_1
            FROM (
              SELECT {p5:UUID} AS organization_id, cookie_id, sumIf(events, leaf_id = {p3:UUID} AND day >= toDate({p2:String})) AS events_1
              FROM (
                SELECT leaf_id, day, cookie_id, events FROM audience_leaf_days
                WHERE leaf_id IN {p9:Array(UUID)} AND ((leaf_id, day, run_id) IN arrayZip({p6:Array(UUID)}, {p7:Array(Date)}, {p8:Array(UUID)}))
              )
              GROUP BY cookie_id
            )
            WHERE hem_number != 0
          )
          GROUP BY member
          HAVING bits != 0
        )
        UNION ALL
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT reinterpretAsUInt256(unhex(hem)) AS member, bitShiftLeft(toUInt64(ifNull((job_title LIKE {p10:String}), false)), 0) AS bits
          FROM profiles FINAL
          WHERE ((job_title LIKE {p10:String}))
        )
        UNION ALL
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT hem_number AS member, bitShiftLeft(toUInt64(ifNull(build_id = {p11:UUID}, false)), 4) AS bits
          FROM audience_members
          WHERE build_id IN ({p11:UUID})
        )
        UNION ALL
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT item AS member, bits FROM (SELECT hem_number AS item, bitShiftLeft(toUInt64(ifNull(list_id = {p12:UUID}, false)), 3) AS bits FROM list_members
            WHERE list_id IN ({p12:UUID}) AND import_id NOT IN {p13:Array(UUID)})
        )
        UNION ALL
        SELECT member, bitShiftLeft(toUInt64(ifNull(countIf(topic IN {p14:Array(String)} AND score >= {p15:UInt8}) >= 1, false)), 2) AS bits,
          toUInt8(1 + (max(score) >= 50) + (max(score) >= 75)) AS bucket
        FROM (
          SELECT member, topic, toUInt8(intDiv(200 * (84 * in_window) + ((84 * in_window) + {p26:UInt64} * before + 8400), 2 * ((84 * in_window) + {p26:UInt64} * before + 8400))) AS score, signals, last_seen
          FROM (
            SELECT member, topic, sumIf(strength, date >= toDate({p25:String})) AS in_window, sumIf(strength, date < toDate({p25:String})) AS before,
              sumIf(times, date >= toDate({p25:String})) AS signals, maxIf(date, date >= toDate({p25:String})) AS last_seen
            FROM (
              SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member, hem_number, topic, date, strength, times
              FROM (
                SELECT hem_number, company_domain, topic, date, toUInt64(score) AS strength, toUInt64(1) AS times FROM intent_signals FINAL WHERE topic IN {p20:Array(String)} AND date BETWEEN toDate({p18:String}) AND toDate({p19:String})
                UNION ALL
                SELECT dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS hem_number, '' AS company_domain, topic, date, events * 100 AS strength, events AS times
                FROM intent_event_days
                WHERE organization_id = {p21:UUID} AND topic IN {p24:Array(String)} AND date BETWEEN toDate({p22:String}) AND toDate({p23:String})
                  AND (date, run_id) IN (SELECT date, run_id FROM intent_event_runs FINAL WHERE organization_id = {p21:UUID})

              )
              WHERE hem_number != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p16:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p17:Array(String)}) AS hem)))
            )
            GROUP BY member, topic
            HAVING signals > 0
          )
        )
        GROUP BY member
      )
    )
    WHERE one != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(one), one) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p27:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p28:Array(String)}) AS hem)))
    GROUP BY one
    HAVING met != 0
      AND (((bitTest(met, 0) OR bitTest(met, 1)) AND bitTest(met, 2) AND (NOT bitTest(met, 3))) AND NOT bitTest(met, 4))
    ORDER BY sipHash64(member), member LIMIT {p29:UInt64}
  )
  ORDER BY reinterpretAsFixedString(member)
)
WHERE NOT throwIf(NOT (toUnixTimestamp64Milli(now64(3)) < {p30:Int64}), 'the lease of the build has expired')
SETTINGS max_memory_usage = 1073741824, max_execution_time = 100,
  max_bytes_before_external_group_by = 268435456, max_bytes_before_external_sort = 268435456, log_comment = {p31:String}
