-- Build of an audience, queue audiences.builds
-- {"entity":"people","include":{"event":{"event_type":"page_view","filter":"page_path:eq:/pricing","at_least":3,"within_days":30}}}
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
-- p10 UUID = "00000000-0000-4000-8000-000000000001"
-- p11 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p12 Int64 = 1789041615000
-- p13 String = "00000000-0000-4000-8000-000000000006"

INSERT INTO audience_members (build_id, organization_id, key, hem_number, company_domain, bucket)
SELECT {p0:UUID}, {p1:UUID}, toInt64(rowNumberInAllBlocks() + 1), member, '', bucket
FROM (
  SELECT member, bucket FROM (
    SELECT one AS member, groupBitOr(bits) AS met, max(interest) AS bucket
    FROM (
      SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(member), member) AS one, bits, bucket AS interest
      FROM (
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) AS member, bitShiftLeft(toUInt64(ifNull(sum(events_0) >= {p4:UInt32}, false)), 0) AS bits
          FROM (
            SELECT dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) AS hem_number, events_0
            FROM (
              SELECT {p5:UUID} AS organization_id, cookie_id, sumIf(events, leaf_id = {p3:UUID} AND day >= toDate({p2:String})) AS events_0
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
      )
    )
    WHERE one != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(one), one) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p10:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p11:Array(String)}) AS hem)))
    GROUP BY one
    HAVING met != 0
      AND (bitTest(met, 0))
  )
  ORDER BY reinterpretAsFixedString(member)
)
WHERE NOT throwIf(NOT (toUnixTimestamp64Milli(now64(3)) < {p12:Int64}), 'the lease of the build has expired')
SETTINGS max_memory_usage = 1073741824, max_execution_time = 100,
  max_bytes_before_external_group_by = 268435456, max_bytes_before_external_sort = 268435456, log_comment = {p13:String}
