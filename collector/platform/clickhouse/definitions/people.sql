-- People with several addresses. Views read this dictionary, so it is created before them.

-- The hems of each person with several addresses. A person is the profiles with one pte_person_id, or one profile
-- without it. Their addresses are those of the profiles' hems, and those that the profiles name. An address that has a
-- profile belongs to it, even if other profiles name it. An address without one that several people name belongs to nobody.
-- person_number is the person's main hem, that of the last loaded profile. profile_number is the hem of the profile
-- that describes the address: its own, otherwise the person's main one.
CREATE VIEW {database}.shared_people AS
SELECT arrayJoin(hems) AS hem_number, person_number,
    if(has(hems_with_profile, hem_number), hem_number, person_number) AS profile_number, hems
FROM (
    SELECT arraySort(groupArray(number)) AS hems,
        groupArrayIf(number, has_profile) AS hems_with_profile,
        argMinIf(number, (-toUnixTimestamp64Milli(loaded_at), number), has_profile) AS person_number
    FROM (
        SELECT number, max(number = own_number) AS has_profile,
            argMax(person, number = own_number) AS held_by,
            argMax(updated_at, number = own_number) AS loaded_at
        FROM (
            SELECT sipHash128(isNull(pte_person_id), ifNull(pte_person_id, toString(hem))) AS person,
                reinterpretAsUInt256(unhex(hem)) AS own_number, updated_at,
                arrayMap(address -> reinterpretAsUInt256(SHA256(address)), arrayDistinct(arrayFilter(
                    address -> position(address, '@') > 1,
                    arrayMap(text -> lowerUTF8(trimBoth(text, ' \t\n\r')), arrayConcat(
                        [ifNull(email, ''), ifNull(business_email, ''), ifNull(personal_email, '')],
                        splitByChar(',', ifNull(additional_emails, ''))))))) AS named_numbers
            FROM {database}.profiles FINAL)
        ARRAY JOIN arrayDistinct(arrayPushFront(named_numbers, own_number)) AS number
        GROUP BY number
        HAVING has_profile OR min(person) = max(person))
    GROUP BY held_by
    HAVING count() > 1
);

-- The person of each hem of people with several addresses. It has no rows for people with one address.
CREATE DICTIONARY {database}.person_by_hem
(
    hem_number UInt256,
    person_number UInt256,
    profile_number UInt256,
    hems Array(UInt256)
)
PRIMARY KEY hem_number
SOURCE(CLICKHOUSE({login} QUERY 'SELECT hem_number, person_number, profile_number, hems FROM {shared_people}'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 300 MAX 600);

CREATE VIEW {database}.active_opt_outs AS
SELECT organization_id, hem, cookie_id FROM {database}.opt_outs FINAL WHERE is_active;

-- All hems of people who opted out with any of their addresses.
CREATE VIEW {database}.opted_out_people AS
SELECT organization_id, lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault(
    '{database}.person_by_hem', 'hems', tuple(hem_number), [hem_number]))))) AS hem
FROM (
    SELECT organization_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.active_opt_outs WHERE hem != '');

-- The organizations that each person (by each hem) and each browser (by its cookie) opted out of; the zero UUID: all.
CREATE VIEW {database}.opted_out_keys AS
SELECT key, groupUniqArray(organization_id) AS organizations
FROM (
    SELECT hem AS key, organization_id FROM {database}.opted_out_people
    UNION ALL
    SELECT toString(cookie_id), organization_id FROM {database}.active_opt_outs WHERE hem = '')
GROUP BY key;

-- Views look opt-outs up here. A subquery would take milliseconds of analysis in each place that names it. Dictionaries that
-- read other dictionaries load in several threads: in one, a reload would reload all that it reads.
CREATE DICTIONARY {database}.opted_out_by_key
(
    key String,
    organizations Array(UUID)
)
PRIMARY KEY key
SOURCE(CLICKHOUSE({login} QUERY 'SELECT key, organizations FROM {opted_out_keys}'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 300 MAX 600)
SETTINGS(dictionary_use_async_executor = 1);
