-- Import of a list of emails: count its members and how many are known
-- POST /api/v1/lists/00000000-0000-4000-8000-000000000008/imports
--
-- p0 UUID = "00000000-0000-4000-8000-000000000008"
-- p1 UUID = "00000000-0000-4000-8000-000000000009"
-- p2 Array(UUID) = []
-- p3 UUID = "00000000-0000-4000-8000-000000000001"
-- p4 Array(String) = ["edcec64597f4225a893f8945be98366f6499a843c61745da40967970c6d83b34"]

SELECT uniqExact(toUInt128(hem_number)) AS members, uniqExactIf(toUInt128(hem_number), hem_number IN (SELECT hem_number FROM profile_rows WHERE hem_key IN (SELECT toUInt64(hem_number) FROM (SELECT hem_number FROM list_members WHERE list_id = {p0:UUID} AND true AND import_id = {p1:UUID})))
      AND NOT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) IN (SELECT dictGetOrDefault('person_by_hem', 'person_number', tuple(hem_number), hem_number) FROM (SELECT reinterpretAsUInt256(unhex(hem)) AS hem_number FROM (SELECT lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault('person_by_hem', 'hems', tuple(reinterpretAsUInt256(unhex(hem))), [reinterpretAsUInt256(unhex(hem))]))))) AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN ({p3:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) UNION ALL SELECT arrayJoin({p4:Array(String)}) AS hem)))) AS matched
FROM list_members WHERE list_id = {p0:UUID} AND true AND import_id = {p1:UUID}
AND hem_number NOT IN (SELECT hem_number FROM list_members WHERE list_id = {p0:UUID} AND true AND import_id != {p1:UUID} AND import_id NOT IN {p2:Array(UUID)})
SETTINGS max_memory_usage = 1073741824, max_execution_time = 100
