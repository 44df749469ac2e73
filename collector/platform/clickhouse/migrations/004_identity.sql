-- Who is whom: which hashed e-mail (hem) a cookie belongs to, and what is known of the person behind a hem.

-- A link is kept for each way in which it came to be known, so hem and source become part of its key: which of
-- several links of a cookie counts is decided when they are read.
ALTER TABLE identity_links
    ADD COLUMN IF NOT EXISTS confidence Float32 DEFAULT 1,
    ADD COLUMN IF NOT EXISTS source LowCardinality(String) DEFAULT 'identify',
    ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT now64(3);

-- The link of each cookie that counts, in memory: the surest one, of those the latest. hem_number is the hem as 256
-- bits, the first byte lowest: half the memory of its text. 70 bytes a link, a second to load two million.
CREATE OR REPLACE DICTIONARY identity_by_cookie
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256
)
PRIMARY KEY organization_id, cookie_id
SOURCE(CLICKHOUSE(USER '{user}' PASSWORD '{password}' QUERY '
    SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.identity_links FINAL
    ORDER BY organization_id, cookie_id, confidence DESC, observed_at DESC, hem
    LIMIT 1 BY organization_id, cookie_id'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 300 MAX 600);

CREATE OR REPLACE TABLE identity_links
(
    -- Whose site observed it; the zero uuid for links of the operator's own graph, which all organizations see.
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64) CODEC(ZSTD(1)),
    -- identify: the site said so. form: a form with an e-mail address was sent. loaded: from the operator's graph.
    source LowCardinality(String) DEFAULT 'identify',
    -- From 0 to 1.
    confidence Float32 DEFAULT 1,
    pixel_id UUID,
    -- When it was last seen.
    observed_at DateTime64(3, 'UTC'),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3),
    spool_id UUID,
    seq UInt64,
    -- Whose cookies are whose, the other way round.
    INDEX hem_bloom hem TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = {engine}ReplacingMergeTree(observed_at)
PARTITION BY toYYYYMM(stored_at)
ORDER BY (organization_id, cookie_id, hem, source)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1
AS SELECT organization_id, cookie_id, hem, source, confidence, pixel_id, observed_at, stored_at, spool_id, seq
FROM identity_links;

-- The same of the cookies that sites identified within the last hour: small, so that it can be read anew every
-- second, while the large one may be up to ten minutes old.
CREATE OR REPLACE DICTIONARY identity_by_cookie_lately
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256
)
PRIMARY KEY organization_id, cookie_id
SOURCE(CLICKHOUSE(USER '{user}' PASSWORD '{password}' QUERY '
    SELECT organization_id, cookie_id, reinterpretAsUInt256(unhex(hem)) AS hem_number
    FROM {database}.identity_links FINAL
    WHERE (organization_id, cookie_id) IN (
        SELECT organization_id, cookie_id FROM {database}.identity_links
        WHERE stored_at > now() - INTERVAL 1 HOUR AND source != ''loaded''
    )
    ORDER BY organization_id, cookie_id, confidence DESC, observed_at DESC, hem
    LIMIT 1 BY organization_id, cookie_id'))
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(MIN 1 MAX 2);

-- One row for each hem, with the columns of the field table (schemas/fields.ts); somebody known by two addresses has
-- two, with the same pte_person_id. The row loaded last counts.
CREATE TABLE IF NOT EXISTS profiles
(
    hem FixedString(64) CODEC(ZSTD(1)),
    {profile_columns},
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
ORDER BY hem
SETTINGS non_replicated_deduplication_window = 10000;

-- The same people once more, each as the piece of JSON that rows of the API end with, in small granules: a page of
-- events needs all of a thousand people that lie anywhere. The view that fills it is made by columns.ts.
CREATE TABLE IF NOT EXISTS profile_rows
(
    -- The first eight bytes of the hem.
    hem_key UInt64,
    hem_number UInt256,
    -- The members of tier resolution_hem_pte and those of the full profile, each with a comma in front.
    pte String CODEC(LZ4),
    profile String CODEC(LZ4),
    updated_at DateTime64(3, 'UTC')
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
PRIMARY KEY hem_key
ORDER BY (hem_key, hem_number)
SETTINGS index_granularity = 8, min_compress_block_size = 1024, max_compress_block_size = 65536;

-- Asks for the people it is asked for and remembers the last 65,536, at most 4 KiB each.
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

-- Companies by domain, with the company columns of the field table.
CREATE TABLE IF NOT EXISTS companies
(
    company_domain String,
    {company_columns},
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
ORDER BY company_domain
SETTINGS non_replicated_deduplication_window = 10000;

-- Which addresses are a company's, as networks in CIDR notation.
CREATE TABLE IF NOT EXISTS company_networks
(
    network String,
    company_domain String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
ORDER BY network
SETTINGS non_replicated_deduplication_window = 10000;
