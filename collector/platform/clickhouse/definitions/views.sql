-- Views; each depends only on the views before it. Only these views decide which link of a cookie counts. They name each
-- other as rarely as possible: ClickHouse analyses a view again each time.

-- All links, and whose opt-outs apply. is_suppressed: the person or browser opted out of the link's organization.
-- is_hidden: out of all. Anybody who knows a cookie's id can send an unsigned identify call. So links that
-- sites observed rank above the operator's graph only if the site's server signed or loaded them.
CREATE VIEW {database}.judged_links AS
WITH dictGet('{database}.opted_out_by_key', 'organizations', tuple(toString(hem))) AS person_opted_out_of,
    arrayConcat(person_opted_out_of, dictGet('{database}.opted_out_by_key', 'organizations', tuple(toString(cookie_id)))) AS opted_out_of
SELECT organization_id, cookie_id, hem, confidence, observed_at,
    organization_id = toUUID('00000000-0000-0000-0000-000000000000') OR source IN ('signed', 'loaded') AS is_vouched,
    has(opted_out_of, organization_id) AS is_suppressed,
    has(opted_out_of, toUUID('00000000-0000-0000-0000-000000000000')) AS is_hidden,
    organization_id = toUUID('00000000-0000-0000-0000-000000000000') AS is_of_graph,
    if(is_of_graph, person_opted_out_of, []) AS hidden_from
FROM {database}.identity_links FINAL;

-- Links that reads may use: neither the person nor the browser opted out of the link's organization, or of all.
CREATE VIEW {database}.followed_links AS
SELECT organization_id, cookie_id, hem, confidence, observed_at, is_vouched
FROM {database}.judged_links WHERE NOT is_hidden AND NOT is_suppressed;

-- Cookies for which an organization must not read the operator's graph.
CREATE VIEW {database}.hidden_cookies AS
SELECT organization_id, cookie_id FROM {database}.active_opt_outs
WHERE hem = '' AND organization_id != toUUID('00000000-0000-0000-0000-000000000000')
UNION ALL
SELECT organization AS organization_id, cookie_id
FROM (SELECT cookie_id, arrayJoin(hidden_from) AS organization FROM {database}.judged_links WHERE is_of_graph)
WHERE organization != toUUID('00000000-0000-0000-0000-000000000000');

-- The link that counts for each cookie: vouched links first, then the highest confidence, then the latest.
-- hem_number is the hem as 256 bits, lowest byte first. Unvouched links are ignored for cookies that the
-- operator's graph may resolve. Visit alerts trust only vouched links. hem_number is 0 where the organization must not
-- read the operator's graph.
--
-- Links of the graph count as they are. Window functions compare only the cookies that an organization linked.
CREATE VIEW {database}.counting_links AS
SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number,
    toUInt8(is_vouched) AS is_vouched
FROM (
    SELECT organization_id, cookie_id, toString(hem) AS hem, is_vouched, confidence, observed_at
    FROM {database}.judged_links
    WHERE is_of_graph AND NOT is_hidden
    UNION ALL
    SELECT organization_id, cookie_id, if(is_suppressed, '', toString(hem)), is_vouched AND NOT is_suppressed,
        if(is_suppressed, -1, confidence), observed_at
    FROM (
        SELECT *, max(is_of_graph AND NOT is_hidden) OVER (PARTITION BY cookie_id) AS is_in_graph,
            groupUniqArrayArray(hidden_from) OVER (PARTITION BY cookie_id) AS all_hidden_from
        FROM {database}.judged_links
        WHERE cookie_id IN (
            SELECT cookie_id FROM {database}.identity_links
            WHERE organization_id != toUUID('00000000-0000-0000-0000-000000000000'))
    )
    WHERE NOT is_of_graph AND NOT is_hidden
      AND (NOT is_in_graph OR NOT is_suppressed AND (is_vouched OR has(all_hidden_from, organization_id)))
    UNION ALL
    SELECT organization_id, cookie_id, '', false, -1, toDateTime64(0, 3, 'UTC') FROM {database}.hidden_cookies
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
SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(if(is_suppressed, '', toString(hem)))) AS hem_number,
    toUInt8(is_vouched) AS is_vouched
FROM (
    SELECT *, max(is_of_graph AND NOT is_hidden) OVER (PARTITION BY cookie_id) AS is_in_graph,
        groupUniqArrayArray(hidden_from) OVER (PARTITION BY cookie_id) AS all_hidden_from
    FROM {database}.judged_links
    WHERE cookie_id IN (SELECT cookie_id FROM late)
)
WHERE NOT is_hidden AND (organization_id, cookie_id) IN (SELECT organization_id, cookie_id FROM late)
  AND (NOT is_in_graph OR NOT is_suppressed AND (is_vouched OR has(all_hidden_from, organization_id)))
ORDER BY organization_id, cookie_id, is_suppressed, is_vouched DESC, confidence DESC, observed_at DESC, hem
LIMIT 1 BY organization_id, cookie_id;
