-- The dictionaries as they were defined while their definitions held the password.

CREATE OR REPLACE DICTIONARY identity_by_cookie
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256
)
PRIMARY KEY organization_id, cookie_id
SOURCE(CLICKHOUSE(USER '{user}' PASSWORD '{password}' QUERY '
    SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM (
        SELECT organization_id, cookie_id, toString(hem) AS hem, is_vouched, confidence, observed_at
        FROM {database}.followed_links
        WHERE is_vouched
           OR (organization_id, cookie_id) IN (SELECT organization_id, cookie_id FROM {database}.hidden_cookies)
           OR cookie_id NOT IN (
              SELECT cookie_id FROM {database}.followed_links
              WHERE organization_id = toUUID(''00000000-0000-0000-0000-000000000000'') AND cookie_id IN (
                  SELECT cookie_id FROM {database}.identity_links
                  WHERE organization_id != toUUID(''00000000-0000-0000-0000-000000000000'')
                    AND source NOT IN (''signed'', ''loaded'')))
        UNION ALL
        SELECT organization_id, cookie_id, '''', false, -1, toDateTime64(0, 3, ''UTC'') FROM {database}.hidden_cookies
    )
    ORDER BY organization_id, cookie_id, is_vouched DESC, confidence DESC, observed_at DESC, hem
    LIMIT 1 BY organization_id, cookie_id'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 300 MAX 600);

CREATE OR REPLACE DICTIONARY identity_by_cookie_lately
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256
)
PRIMARY KEY organization_id, cookie_id
SOURCE(CLICKHOUSE(USER '{user}' PASSWORD '{password}' QUERY '
    WITH late AS (
        SELECT organization_id, cookie_id FROM {database}.identity_links
        WHERE stored_at > now() - INTERVAL 1 HOUR AND source != ''loaded''
    )
    SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.followed_links
    WHERE (organization_id, cookie_id) IN (SELECT organization_id, cookie_id FROM late)
      AND (is_vouched
        OR (organization_id, cookie_id) IN (
            SELECT organization_id, cookie_id FROM {database}.hidden_cookies
            WHERE cookie_id IN (SELECT cookie_id FROM late))
        OR cookie_id NOT IN (
            SELECT cookie_id FROM {database}.followed_links
            WHERE organization_id = toUUID(''00000000-0000-0000-0000-000000000000'')
              AND cookie_id IN (SELECT cookie_id FROM late)))
    ORDER BY organization_id, cookie_id, is_vouched DESC, confidence DESC, observed_at DESC, hem
    LIMIT 1 BY organization_id, cookie_id'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 1 MAX 2);

CREATE OR REPLACE DICTIONARY profile_by_hem
(
    hem_key UInt64,
    hem_number UInt256,
    pte String,
    profile String
)
PRIMARY KEY hem_key
SOURCE(CLICKHOUSE(USER '{user}' PASSWORD '{password}' QUERY '
    SELECT hem_key, hem_number, pte, profile
    FROM {database}.profile_rows
    WHERE {condition}
    ORDER BY hem_key, updated_at DESC
    LIMIT 1 BY hem_key'))
LAYOUT(CACHE(SIZE_IN_CELLS 65536))
LIFETIME(MIN 60 MAX 120);

CREATE OR REPLACE DICTIONARY company_by_network
(
    network String,
    company_domain String
)
PRIMARY KEY network
SOURCE(CLICKHOUSE(USER '{user}' PASSWORD '{password}' QUERY '
    SELECT network, company_domain FROM {database}.company_networks FINAL'))
LAYOUT(IP_TRIE)
LIFETIME(MIN 300 MAX 600);
