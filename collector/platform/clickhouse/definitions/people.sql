-- People who have several addresses. The view and the dictionary come first: views read the dictionary.

-- People who are known by several addresses: each of their hems, the one that stands for the person (that of the profile
-- loaded last), and all of them.
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

-- The person of hems that share one with others: 450 bytes each. Who has one address only is not in it.
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
