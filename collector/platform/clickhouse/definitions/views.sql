-- Views, in the order in which they need each other. Whose link counts is decided here and nowhere else.

CREATE VIEW {database}.active_opt_outs AS
SELECT organization_id, hem, cookie_id FROM {database}.opt_outs FINAL WHERE is_active;

-- All addresses of people who opted out by any of them.
CREATE VIEW {database}.opted_out_people AS
SELECT organization_id, lower(hex(reinterpretAsFixedString(arrayJoin(dictGetOrDefault(
    '{database}.person_by_hem', 'hems', tuple(hem_number), [hem_number]))))) AS hem
FROM (
    SELECT organization_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.active_opt_outs WHERE hem != '');

-- Links of people and browsers who have not opted out everywhere. is_suppressed: they have opted out of the organization
-- whose link it is. What a page says of its visitor nobody vouches for: whoever knows a cookie's id may say it from
-- anywhere. So of the links that sites observed only those count before the operator's graph that the site's own server
-- has signed, or loaded.
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

-- Links that may be followed: neither their person nor their browser wants to be left alone by whom they are for.
CREATE VIEW {database}.followed_links AS
SELECT organization_id, cookie_id, hem, confidence, observed_at, is_vouched
FROM {database}.possible_links WHERE NOT is_suppressed;

-- Cookies of which an organization must not learn what the operator's graph says.
CREATE VIEW {database}.hidden_cookies AS
SELECT organization_id, cookie_id FROM {database}.active_opt_outs
WHERE hem = '' AND organization_id != toUUID('00000000-0000-0000-0000-000000000000')
UNION ALL
SELECT optOut.organization_id, link.cookie_id
FROM {database}.identity_links AS link FINAL
JOIN {database}.opted_out_people AS optOut ON toString(link.hem) = optOut.hem
WHERE link.organization_id = toUUID('00000000-0000-0000-0000-000000000000')
  AND optOut.organization_id != toUUID('00000000-0000-0000-0000-000000000000');

-- The link of each cookie that counts: the surest one, of those the latest; the hem as 256 bits, the first byte lowest.
-- Links that nobody vouches for are left out of cookies that the graph knows and may tell. hem_number is 0 where an
-- organization must not ask the operator's graph. is_known is what free answers say: it does not change with the
-- organization's own opt-outs, by which it would learn whose a cookie is.
CREATE VIEW {database}.counting_links AS
WITH of_graph AS (
    SELECT cookie_id FROM {database}.followed_links
    WHERE organization_id = toUUID('00000000-0000-0000-0000-000000000000'))
SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number, is_known
FROM (
    SELECT organization_id, cookie_id, toString(hem) AS hem, is_vouched, confidence, observed_at, 1 AS is_known
    FROM {database}.followed_links
    WHERE is_vouched
       OR (organization_id, cookie_id) IN (SELECT organization_id, cookie_id FROM {database}.hidden_cookies)
       OR cookie_id NOT IN (
          SELECT cookie_id FROM of_graph WHERE cookie_id IN (
              SELECT cookie_id FROM {database}.identity_links
              WHERE organization_id != toUUID('00000000-0000-0000-0000-000000000000')
                AND source NOT IN ('signed', 'loaded')))
    UNION ALL
    SELECT organization_id, cookie_id, '', false, -1, toDateTime64(0, 3, 'UTC'), cookie_id IN (
        SELECT cookie_id FROM of_graph
        WHERE cookie_id IN (SELECT cookie_id FROM {database}.hidden_cookies))
    FROM {database}.hidden_cookies
    UNION ALL
    SELECT organization_id, cookie_id, '', false, -1, toDateTime64(0, 3, 'UTC'), 1
    FROM {database}.possible_links
    WHERE is_suppressed AND cookie_id NOT IN (
        SELECT cookie_id FROM of_graph
        WHERE cookie_id IN (SELECT cookie_id FROM {database}.possible_links WHERE is_suppressed))
)
ORDER BY organization_id, cookie_id, is_vouched DESC, confidence DESC, observed_at DESC, hem, is_known DESC
LIMIT 1 BY organization_id, cookie_id;

-- The same of the cookies that sites identified within the last hour. It is read every second: of the graph it asks
-- only for the cookies it is about. Links of people who opted out of the organization are known here too: a free answer
-- must not tell at first that they are not.
CREATE VIEW {database}.counting_links_lately AS
WITH late AS (
    SELECT organization_id, cookie_id FROM {database}.identity_links
    WHERE stored_at > now() - INTERVAL 1 HOUR AND source != 'loaded'
)
SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(if(is_suppressed, '', toString(hem)))) AS hem_number,
    1 AS is_known
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
