-- Who is whom: which hashed e-mail (hem) a cookie belongs to, and what is known of the person behind a hem.

-- A link is kept for each way in which it came to be known, so hem and source become part of its key: which of
-- several links of a cookie counts is decided when they are read.
ALTER TABLE identity_links
    ADD COLUMN IF NOT EXISTS confidence Float32 DEFAULT 1,
    ADD COLUMN IF NOT EXISTS source LowCardinality(String) DEFAULT 'identify',
    ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT now64(3);

-- The release before read this dictionary from the table as it was, which keeps the table from being replaced: until
-- the definition of today takes its place (definitions/dictionaries.sql), it is empty.
CREATE OR REPLACE DICTIONARY identity_by_cookie
(
    organization_id UUID,
    cookie_id UUID,
    hem_number UInt256
)
PRIMARY KEY organization_id, cookie_id
SOURCE(NULL())
LAYOUT(COMPLEX_KEY_HASHED_ARRAY())
LIFETIME(0);

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
-- events needs all of a thousand people that lie anywhere. profileRows.ts makes the view that fills it.
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
