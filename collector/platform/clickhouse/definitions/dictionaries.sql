-- Dictionaries. {login} is the login that reads their sources, without a secret (login.ts). The sources are
-- on the first shard.

-- The person of each cookie. A link takes 70 bytes of memory; loading two million links takes a second.
CREATE DICTIONARY {database}.identity_by_cookie
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256,
    is_vouched UInt8
)
PRIMARY KEY organization_id, cookie_id
SOURCE(CLICKHOUSE({login} QUERY 'SELECT organization_id, cookie_id, hem_number, is_vouched FROM {counting_links}'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 300 MAX 600)
SETTINGS(dictionary_use_async_executor = 1);

-- Links of the last hour. This dictionary is small and reloads every second; the large one may be up to ten
-- minutes old.
CREATE DICTIONARY {database}.identity_by_cookie_lately
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256,
    is_vouched UInt8
)
PRIMARY KEY organization_id, cookie_id
SOURCE(CLICKHOUSE({login} QUERY 'SELECT organization_id, cookie_id, hem_number, is_vouched FROM {counting_links_lately}'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 1 MAX 2)
SETTINGS(dictionary_use_async_executor = 1);

-- Loads requested profiles on demand and caches 65,536 of them, each of at most 4 KiB.
CREATE DICTIONARY {database}.profile_by_hem
(
    hem_key UInt64,
    hem_number UInt256,
    pte String,
    profile String
)
PRIMARY KEY hem_key
SOURCE(CLICKHOUSE({login} QUERY '
    SELECT hem_key, hem_number, pte, profile
    FROM {profile_rows}
    WHERE {condition}
    ORDER BY hem_key, updated_at DESC
    LIMIT 1 BY hem_key'))
LAYOUT(CACHE(SIZE_IN_CELLS 65536))
LIFETIME(MIN 60 MAX 120);

-- The company of an IP address: the company of the smallest network that contains it.
CREATE DICTIONARY {database}.company_by_network
(
    network String,
    company_domain String
)
PRIMARY KEY network
SOURCE(CLICKHOUSE({login} QUERY 'SELECT network, company_domain FROM {company_networks} FINAL'))
LAYOUT(IP_TRIE)
LIFETIME(MIN 300 MAX 600);
