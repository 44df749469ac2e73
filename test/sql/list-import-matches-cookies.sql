-- Import of a list of cookies: count its members and how many are known
-- POST /api/v1/lists/00000000-0000-4000-8000-000000000008/imports
--
-- p0 UUID = "00000000-0000-4000-8000-000000000008"
-- p1 UUID = "00000000-0000-4000-8000-000000000009"
-- p2 Array(UUID) = []

SELECT uniqExact(cookie_id) AS members, uniqExactIf(cookie_id, dictGetOrDefault('identity_by_cookie_lately', 'hem_number', (organization_id, cookie_id), dictGetOrDefault('identity_by_cookie', 'hem_number', (organization_id, cookie_id), dictGet('identity_by_cookie', 'hem_number', (toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)))) != 0) AS matched
FROM list_members WHERE list_id = {p0:UUID} AND true AND import_id = {p1:UUID}
AND cookie_id NOT IN (SELECT cookie_id FROM list_members WHERE list_id = {p0:UUID} AND true AND import_id != {p1:UUID} AND import_id NOT IN {p2:Array(UUID)})
SETTINGS max_memory_usage = 1073741824, max_execution_time = 100
