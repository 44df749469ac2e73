-- Build of an audience, queue audiences.builds
-- {"entity":"people","include":{"profile":{"field":"job_title","op":"like","value":"%engineer%"}}}
--
-- p0 UUID = "00000000-0000-4000-8000-000000000006"
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 String = "%engineer%"
-- p3 UUID = "00000000-0000-4000-8000-000000000001"
-- p4 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p5 Int64 = 1789041615000
-- p6 String = "00000000-0000-4000-8000-000000000006"

INSERT INTO audience_members (build_id, organization_id, key, hem_number, company_domain, bucket)
SELECT {p0:UUID}, {p1:UUID}, toInt64(rowNumberInAllBlocks() + 1), member, '', bucket
FROM (
  SELECT member, bucket FROM (
    SELECT one AS member, groupBitOr(bits) AS met, max(interest) AS bucket
    FROM (
      SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(member), member) AS one, bits, bucket AS interest
      FROM (
        SELECT member, bits, toUInt8(0) AS bucket FROM (
          SELECT reinterpretAsUInt256(unhex(hem)) AS member, bitShiftLeft(toUInt64(ifNull((job_title LIKE {p2:String}), false)), 0) AS bits
          FROM profiles FINAL
          WHERE ((job_title LIKE {p2:String}))
        )
      )
    )
    WHERE one != 0 AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(one), one) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p3:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p4:Array(String)}) AS hem)))
    GROUP BY one
    HAVING met != 0
      AND (bitTest(met, 0))
  )
  ORDER BY reinterpretAsFixedString(member)
)
WHERE NOT throwIf(NOT (toUnixTimestamp64Milli(now64(3)) < {p5:Int64}), 'the lease of the build has expired')
SETTINGS max_memory_usage = 1073741824, max_execution_time = 100,
  max_bytes_before_external_group_by = 268435456, max_bytes_before_external_sort = 268435456, log_comment = {p6:String}
