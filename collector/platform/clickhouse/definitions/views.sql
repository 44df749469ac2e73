-- Views; each depends only on the views before it. Only these views decide which link of a cookie counts.

CREATE VIEW {database}.active_opt_outs AS
SELECT organization_id, hem, cookie_id FROM {database}.opt_outs FINAL WHERE is_active;

-- All hems of people who opted out with any of their addresses.
CREATE VIEW {database}.opted_out_people AS
SELECT organization_id, lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault(
    '{database}.person_by_hem', 'hems', tuple(hem_number), [hem_number]))))) AS hem
FROM (
    SELECT organization_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.active_opt_outs WHERE hem != '');

-- Links of people and browsers without a global opt-out. is_suppressed: the person or browser opted out of
-- the link's organization. Anybody who knows a cookie's id can send an unsigned identify call. So links that
-- sites observed rank above the operator's graph only if the site's server signed or loaded them.
CREATE VIEW {database}.possible_links AS
SELECT organization_id, cookie_id, hem, confidence, observed_at,
    organization_id = toUUID('00000000-0000-0000-0000-000000000000') OR source IN ('signed', 'loaded') AS is_vouched,
    (organization_id, hem) IN (SELECT organization_id, hem FROM {database}.opted_out_people)
    OR (organization_id, cookie_id) IN (SELECT organization_id, cookie_id FROM {database}.active_opt_outs) AS is_suppressed
FROM {database}.identity_links FINAL
WHERE hem NOT IN (
      SELECT hem FROM {database}.opted_out_people
      WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'))
  AND cookie_id NOT IN (
      SELECT cookie_id FROM {database}.active_opt_outs
      WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'));

-- Links that reads may use: neither the person nor the browser opted out of the link's organization.
CREATE VIEW {database}.followed_links AS
SELECT organization_id, cookie_id, hem, confidence, observed_at, is_vouched
FROM {database}.possible_links WHERE NOT is_suppressed;

-- Cookies for which an organization must not read the operator's graph.
CREATE VIEW {database}.hidden_cookies AS
SELECT organization_id, cookie_id FROM {database}.active_opt_outs
WHERE hem = '' AND organization_id != toUUID('00000000-0000-0000-0000-000000000000')
UNION ALL
SELECT optOut.organization_id, link.cookie_id
FROM {database}.identity_links AS link FINAL
JOIN {database}.opted_out_people AS optOut ON toString(link.hem) = optOut.hem
WHERE link.organization_id = toUUID('00000000-0000-0000-0000-000000000000')
  AND optOut.organization_id != toUUID('00000000-0000-0000-0000-000000000000');

-- The link that counts for each cookie: vouched links first, then the highest confidence, then the latest.
-- hem_number is the hem as 256 bits, lowest byte first. Unvouched links are ignored for cookies that the
-- operator's graph may resolve. hem_number is 0 where the organization must not read the operator's graph.
--
-- Links of the graph count as they are. Window functions compare only the cookies that an organization
-- linked or hides. Each view inside is named as rarely as possible: ClickHouse analyses it again each time.
CREATE VIEW {database}.counting_links AS
SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
FROM (
    SELECT organization_id, cookie_id, toString(hem) AS hem, is_vouched, confidence, observed_at
    FROM {database}.possible_links
    WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000')
    UNION ALL
    SELECT organization_id, cookie_id, hem, is_vouched, confidence, observed_at
    FROM (
        SELECT organization_id, cookie_id, hem, is_vouched, confidence, observed_at, kind,
            max(kind = 'graph') OVER (PARTITION BY cookie_id) AS is_in_graph,
            max(kind = 'hidden') OVER (PARTITION BY cookie_id, organization_id) AS is_hidden
        FROM (
            SELECT organization_id, cookie_id, if(is_suppressed, '', toString(hem)) AS hem,
                is_vouched AND NOT is_suppressed AS is_vouched, if(is_suppressed, -1, confidence) AS confidence,
                observed_at,
                multiIf(organization_id = toUUID('00000000-0000-0000-0000-000000000000'), 'graph',
                    is_suppressed, 'suppressed', 'followed') AS kind
            FROM {database}.possible_links
            WHERE organization_id != toUUID('00000000-0000-0000-0000-000000000000')
               OR cookie_id IN (
                   SELECT cookie_id FROM {database}.identity_links
                   WHERE organization_id != toUUID('00000000-0000-0000-0000-000000000000')
                   UNION ALL
                   SELECT cookie_id FROM {database}.hidden_cookies)
            UNION ALL
            SELECT organization_id, cookie_id, '', false, -1, toDateTime64(0, 3, 'UTC'), 'hidden'
            FROM {database}.hidden_cookies)
    )
    WHERE kind = 'hidden'
       OR kind != 'graph' AND (NOT is_in_graph OR kind = 'followed' AND (is_vouched OR is_hidden))
)
ORDER BY organization_id, cookie_id, is_vouched DESC, confidence DESC, observed_at DESC, hem
LIMIT 1 BY organization_id, cookie_id;

-- The same links for cookies that sites identified within the last hour. A dictionary reads this view every
-- second, so it looks up only these cookies in the graph. Links of people who opted out of the organization
-- have hem_number 0, which hides the older link of the large dictionary.
CREATE VIEW {database}.counting_links_lately AS
WITH late AS (
    SELECT organization_id, cookie_id FROM {database}.identity_links
    WHERE stored_at > now() - INTERVAL 1 HOUR AND source != 'loaded'
)
SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(if(is_suppressed, '', toString(hem)))) AS hem_number
FROM {database}.possible_links
WHERE (organization_id, cookie_id) IN (SELECT organization_id, cookie_id FROM late)
  AND (NOT is_suppressed AND is_vouched
    OR NOT is_suppressed AND (organization_id, cookie_id) IN (
        SELECT organization_id, cookie_id FROM {database}.hidden_cookies
        WHERE cookie_id IN (SELECT cookie_id FROM late))
    OR cookie_id NOT IN (
        SELECT cookie_id FROM {database}.followed_links
        WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000')
          AND cookie_id IN (SELECT cookie_id FROM late)))
ORDER BY organization_id, cookie_id, is_suppressed, is_vouched DESC, confidence DESC, observed_at DESC, hem
LIMIT 1 BY organization_id, cookie_id;
