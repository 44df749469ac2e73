-- Run of an export of an audience: the next 1,000 members
--
-- p0 UUID = "00000000-0000-4000-8000-000000000001"
-- p1 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]
-- p2 Int64 = 1000
-- p3 Int64 = 2000
-- p4 UUID = "00000000-0000-4000-8000-000000000006"

SELECT key, lower(hex(reinterpretAsFixedString(hem_number))) AS id, dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p0:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p1:Array(String)}) AS hem))) AS is_hidden FROM audience_members
WHERE build_id = {p4:UUID} AND key > {p2:Int64} AND key <= {p3:Int64} ORDER BY key
