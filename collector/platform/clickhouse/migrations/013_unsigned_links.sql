-- What a page says of its visitor nobody vouches for: whoever knows a cookie's id may say it from anywhere. So of the
-- links that sites observed only those count before the operator's graph that the site's own server has signed (source
-- "signed"). Links of before this release have the sources "identify" and "form" and were not signed: they are kept,
-- count where the graph does not know the cookie, and there in the order that they always had among each other.

CREATE OR REPLACE VIEW followed_links AS
SELECT organization_id, cookie_id, hem, confidence, observed_at,
    organization_id = toUUID('00000000-0000-0000-0000-000000000000') OR source IN ('signed', 'loaded') AS is_vouched
FROM {database}.identity_links FINAL
WHERE hem NOT IN (
      SELECT hem FROM {database}.active_opt_outs
      WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'))
  AND (organization_id, hem) NOT IN (SELECT organization_id, hem FROM {database}.active_opt_outs)
  AND cookie_id NOT IN (
      SELECT cookie_id FROM {database}.active_opt_outs
      WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'))
  AND (organization_id, cookie_id) NOT IN (SELECT organization_id, cookie_id FROM {database}.active_opt_outs);

-- As in 008_privacy.sql, without the links that nobody vouches for of cookies that the graph knows and may tell.
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

-- It is read anew every second: of the graph it asks only for the cookies it is about.
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
