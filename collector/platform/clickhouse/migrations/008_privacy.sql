-- What reads need to leave people alone who want that.

-- By it a visitor's rejected events are found when they are to be erased.
ALTER TABLE rejected_events ADD COLUMN IF NOT EXISTS cookie_id UUID AFTER pixel_id;

-- PostgreSQL's list (008_privacy.sql there).
CREATE TABLE IF NOT EXISTS opt_outs
(
    -- The zero uuid: everywhere.
    organization_id UUID,
    -- One of the two; the other is empty or the zero uuid.
    hem String,
    cookie_id UUID,
    is_active Bool,
    changed_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = {engine}ReplacingMergeTree(changed_at)
ORDER BY (organization_id, hem, cookie_id);

CREATE OR REPLACE VIEW active_opt_outs AS
SELECT organization_id, hem, cookie_id FROM {database}.opt_outs FINAL WHERE is_active;

-- Links that may be followed: neither their person nor their browser wants to be left alone by whom they are for.
CREATE OR REPLACE VIEW followed_links AS
SELECT organization_id, cookie_id, hem, confidence, observed_at
FROM {database}.identity_links FINAL
WHERE hem NOT IN (
      SELECT hem FROM {database}.active_opt_outs
      WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'))
  AND (organization_id, hem) NOT IN (SELECT organization_id, hem FROM {database}.active_opt_outs)
  AND cookie_id NOT IN (
      SELECT cookie_id FROM {database}.active_opt_outs
      WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'))
  AND (organization_id, cookie_id) NOT IN (SELECT organization_id, cookie_id FROM {database}.active_opt_outs);

-- Cookies of which an organization must not learn what the operator's graph says.
CREATE OR REPLACE VIEW hidden_cookies AS
SELECT organization_id, cookie_id FROM {database}.active_opt_outs
WHERE hem = '' AND organization_id != toUUID('00000000-0000-0000-0000-000000000000')
UNION ALL
SELECT optOut.organization_id, link.cookie_id
FROM {database}.identity_links AS link FINAL
JOIN {database}.active_opt_outs AS optOut ON toString(link.hem) = optOut.hem
WHERE link.organization_id = toUUID('00000000-0000-0000-0000-000000000000')
  AND optOut.organization_id != toUUID('00000000-0000-0000-0000-000000000000');

-- As in 004_identity.sql, and hem_number is 0 where an organization must not ask the operator's graph.
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
        SELECT organization_id, cookie_id, toString(hem) AS hem, confidence, observed_at FROM {database}.followed_links
        UNION ALL
        SELECT organization_id, cookie_id, '''', -1, toDateTime64(0, 3, ''UTC'') FROM {database}.hidden_cookies
    )
    ORDER BY organization_id, cookie_id, confidence DESC, observed_at DESC, hem
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
    SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.followed_links
    WHERE (organization_id, cookie_id) IN (
        SELECT organization_id, cookie_id FROM {database}.identity_links
        WHERE stored_at > now() - INTERVAL 1 HOUR AND source != ''loaded''
    )
    ORDER BY organization_id, cookie_id, confidence DESC, observed_at DESC, hem
    LIMIT 1 BY organization_id, cookie_id'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 1 MAX 2);
