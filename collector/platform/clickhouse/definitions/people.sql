-- People with several addresses. Views read this dictionary, so it is created before them.

-- The hems of each person with several addresses, with the person's main hem and the list of all hems. The
-- main hem is that of the last loaded profile.
CREATE VIEW {database}.shared_people AS
SELECT arrayJoin(hems) AS hem_number, person_number, hems
FROM (
    SELECT arraySort(groupArray(number)) AS hems,
        argMin(number, (-toUnixTimestamp64Milli(updated_at), number)) AS person_number
    FROM (
        SELECT pte_person_id, reinterpretAsUInt256(unhex(hem)) AS number, updated_at
        FROM {database}.profiles FINAL
        WHERE pte_person_id IS NOT NULL)
    GROUP BY pte_person_id
    HAVING count() > 1
);

-- The person of each shared hem, at 450 bytes per hem. It has no rows for people with one address.
CREATE DICTIONARY {database}.person_by_hem
(
    hem_number UInt256,
    person_number UInt256,
    hems Array(UInt256)
)
PRIMARY KEY hem_number
SOURCE(CLICKHOUSE({login} QUERY 'SELECT hem_number, person_number, hems FROM {shared_people}'))
LAYOUT(COMPLEX_KEY_HASHED())
LIFETIME(MIN 300 MAX 600);
