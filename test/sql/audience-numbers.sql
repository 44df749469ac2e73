-- GET /api/v1/audiences/00000000-0000-4000-8000-000000000010
--
-- p0 Array(UUID) = ["00000000-0000-4000-8000-000000000006"]
-- p1 UUID = "00000000-0000-4000-8000-000000000001"
-- p2 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]

SELECT build_id, count() AS count, countIf(bucket = 1) AS low, countIf(bucket = 2) AS medium, countIf(bucket = 3) AS high
FROM audience_members
WHERE build_id IN {p0:Array(UUID)} AND hem_number NOT IN (SELECT arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(hem_number), [hem_number])) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p1:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p2:Array(String)}) AS hem)))
GROUP BY build_id
