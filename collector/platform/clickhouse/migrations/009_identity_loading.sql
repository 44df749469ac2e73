-- Loading files into the identity store.

-- What was loaded has a partition for each organization (the zero uuid: the operator's graph), so that another load can
-- take the place of all of it at once; what sites observed has one for each month.
CREATE OR REPLACE TABLE identity_links
(
    -- Whose site observed it; the zero uuid for links of the operator's own graph, which all organizations see.
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64) CODEC(ZSTD(1)),
    -- identify: the site said so. form: a form with an e-mail address was sent. loaded: from a file.
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
PARTITION BY if(source = 'loaded', toString(organization_id), toString(toYYYYMM(stored_at)))
ORDER BY (organization_id, cookie_id, hem, source)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1
AS SELECT organization_id, cookie_id, hem, source, confidence, pixel_id, observed_at, stored_at, spool_id, seq
FROM identity_links;

-- How far each load of files has come, so that one that was broken off goes on from there.
CREATE TABLE IF NOT EXISTS identity_loads
(
    -- What is loaded and how: the same for the same command.
    load_id String,
    -- Its first table; what is not published yet lies in tables whose names begin with load_ and load_id.
    target LowCardinality(String),
    -- The version of its rows, the same however often it is broken off.
    started_at DateTime64(3, 'UTC'),
    -- staging: rows go into tables of its own. publishing: they are being handed over. done: all is as it should be.
    phase LowCardinality(String),
    -- Which of the files is read, and how many of its bytes (unpacked) and lines are done.
    file UInt32,
    bytes UInt64,
    lines UInt64,
    -- Of all files: rows that were taken and rows that were not; the length of the file that these are written to.
    rows UInt64,
    rejected UInt64,
    rejected_bytes UInt64,
    updated_at DateTime64(3, 'UTC')
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
ORDER BY load_id;
