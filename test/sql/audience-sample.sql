-- POST /api/v1/audiences/sample
--   {"project_id":"00000000-0000-4000-8000-000000000002","definition":{"entity":"people","include":{"all":[{"profile":{"field":"job_title","op":"like","value":"%engineer%"}},{"event":{"event_type":"page_view","filter":"page_path:eq:/pricing","at_least":3,"within_days":30}}]}}}
--
-- p0 String = "2026-09-10 and a hash of the definition"
-- p1 String = "2026-08-11"
-- p2 UUID = "d8bc0b07-5394-81c6-b748-8c4e4e4870c6"
-- p3 UInt32 = 3
-- p4 UUID = "00000000-0000-4000-8000-000000000001"
-- p5 UUID = "00000000-0000-4000-8000-000000000001"
-- p6 String = "pixel"
-- p7 String = "page_view"
-- p8 String = "/pricing"
-- p9 UUID = "d8bc0b07-5394-81c6-b748-8c4e4e4870c6"
-- p10 UUID = "00000000-0000-4000-8000-000000000002"
-- p11 Int64 = 1786406400000
-- p12 Int64 = 1789041600000
-- p13 String = "%engineer%"
-- p14 UUID = "00000000-0000-4000-8000-000000000001"
-- p15 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]

SELECT count() AS count, groupArraySorted(25)((sipHash64(member, {p0:String}) AS place, lower(hex(reinterpretAsFixedString(member))) AS id)::Tuple(place UInt64, id String)).id AS members
FROM (
  SELECT member, bucket FROM (
    SELECT one AS member, groupBitOr(bits) AS met, max(interest) AS bucket
    FROM (
      SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(member), member) AS one, bits, bucket AS interest
      FROM (
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member, bitShiftLeft(toUInt64(ifNull(sum(events_1) >= {p3:UInt32}, false)), 1) AS bits
          FROM (
            SELECT dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS hem_number, events_1
            FROM (
              SELECT {p4:UUID} AS organization_id, cookie_id, sumIf(events, leaf_id = {p2:UUID} AND day >= toDate({p1:String})) AS events_1
              FROM (
                SELECT leaf_id, toDate(day_number) AS day, cookie_id, events
                FROM (
                  SELECT cookie_id, toUInt16(intDiv(ts_millis, 86400000)) AS day_number, [count()] AS counts
                  FROM events
                  WHERE organization_id = {p5:UUID} AND project_id = {p10:UUID}
                    AND ts_millis >= {p11:Int64} AND ts_millis < {p12:Int64}


                    AND ((source = {p6:String} AND event_type = {p7:String} AND page_path = {p8:String}))
                  GROUP BY cookie_id, day_number
                )
                ARRAY JOIN [{p9:UUID}] AS leaf_id, counts AS events
                WHERE events > 0
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
          SELECT reinterpretAsUInt256(unhex(hem)) AS member, bitShiftLeft(toUInt64(ifNull((job_title LIKE {p13:String}), false)), 0) AS bits
          FROM profiles FINAL
          WHERE ((job_title LIKE {p13:String}))
        )
      )
    )
    WHERE one != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(one), one) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p14:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p15:Array(String)}) AS hem)))
    GROUP BY one
    HAVING met != 0
      AND ((bitTest(met, 0) AND bitTest(met, 1)))
  )
  ORDER BY reinterpretAsFixedString(member)
)
