-- Who visitors are: the hashed e-mail address (hem) of a cookie, the profile of a hem, the company of an IP address.

-- Links between cookies and hems. A cookie has one row for each hem and source: reads decide which link counts.
-- Observed links have a partition for each month. Loaded links have one for each organization (the zero UUID: the
-- operator's graph), so that another load can replace all of it at once.
CREATE TABLE IF NOT EXISTS identity_links
(
    -- The organization whose site observed it. The zero UUID: a link of the operator's graph, for all organizations.
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64) CODEC(ZSTD(1)),
    -- identify: the site named the person. signed: the site's server signed it. form: a form with an e-mail address
    -- was sent. loaded: from a file.
    source LowCardinality(String) DEFAULT 'identify',
    -- From 0 to 1.
    confidence Float32 DEFAULT 1,
    pixel_id UUID,
    -- When it was last observed.
    observed_at DateTime64(3, 'UTC'),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3),
    spool_id UUID,
    seq UInt64,
    -- Finds the cookies of a hem.
    INDEX hem_bloom hem TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(observed_at)
PARTITION BY if(source = 'loaded', toString(organization_id), toString(toYYYYMM(stored_at)))
ORDER BY (organization_id, cookie_id, hem, source)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Opt-outs, a copy of PostgreSQL's table of this name for reads (../definitions/views.sql).
CREATE TABLE IF NOT EXISTS opt_outs
(
    -- The zero UUID: in all organizations.
    organization_id UUID,
    -- Exactly one of the two; the other is empty or the zero UUID.
    hem String,
    cookie_id UUID,
    is_active Bool,
    changed_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplacingMergeTree(changed_at)
ORDER BY (organization_id, hem, cookie_id);

-- One row for each hem, with the columns of the field table (schemas/fields.ts). A person with two addresses has two
-- rows with the same pte_person_id. The row loaded last counts.
CREATE TABLE IF NOT EXISTS profiles
(
    hem FixedString(64) CODEC(ZSTD(1)),
    {profile_columns},
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY hem
SETTINGS non_replicated_deduplication_window = 10000;

-- Each profile as the JSON text with which rows of the API end, in small granules: a page of events needs a thousand
-- profiles from anywhere in the table. A view on profiles fills it (../profileRows.ts).
CREATE TABLE IF NOT EXISTS profile_rows
(
    -- The first eight bytes of the hem.
    hem_key UInt64,
    hem_number UInt256,
    -- The members of tier resolution_hem_pte and those of the full profile, each after a comma.
    pte String CODEC(LZ4),
    profile String CODEC(LZ4),
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
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
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY company_domain
SETTINGS non_replicated_deduplication_window = 10000;

-- The IP networks of companies, in CIDR notation.
CREATE TABLE IF NOT EXISTS company_networks
(
    network String,
    company_domain String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY network
SETTINGS non_replicated_deduplication_window = 10000;

-- The progress of each load of identity files. An interrupted load continues from here.
CREATE TABLE IF NOT EXISTS identity_loads
(
    -- Of the files and options of the command: the same command has the same id.
    load_id String,
    -- The first table that it fills. Rows that are not published yet are in tables named load_…, with load_id.
    target LowCardinality(String),
    -- The version of its rows, which stays the same when the load is continued.
    started_at DateTime64(3, 'UTC'),
    -- staging: rows are inserted into the load's own tables. publishing: they are moved. done: the load is complete.
    phase LowCardinality(String),
    -- The file being read, and how many of its bytes (unpacked) and lines are done.
    file UInt32,
    bytes UInt64,
    lines UInt64,
    -- Of all files: accepted rows, rejected rows, and the length of the file that lists the rejected rows.
    rows UInt64,
    rejected UInt64,
    rejected_bytes UInt64,
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY load_id;
