-- The members of audiences and lists, and intent: which topics people and companies are interested in.

-- The members of builds of audiences. Each build has a partition, which is dropped when the build is no longer used.
CREATE TABLE IF NOT EXISTS audience_members
(
    build_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    -- The position in the build's order, from 1. Pages and charges are ranges of keys.
    key Int64 CODEC(Delta, ZSTD(1)),
    -- Of people: the hem as 256 bits, as in profile_rows. Of companies 0.
    hem_number UInt256,
    -- Of companies. Of people empty.
    company_domain String CODEC(ZSTD(1)),
    -- By the highest score in the topics of the intent leaves when the build was made: 0 none, 1 low, 2 medium, 3 high.
    bucket UInt8 CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY build_id
ORDER BY (build_id, key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How many events of a day match an event leaf, for each cookie. PostgreSQL's table of this name names the valid run of
-- each day. A day is counted again after a month, so older rows can be deleted.
CREATE TABLE IF NOT EXISTS audience_leaf_days
(
    leaf_id UUID,
    day Date,
    run_id UUID,
    cookie_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    events UInt64 CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toMonday(counted_at)
ORDER BY (leaf_id, day, run_id, cookie_id)
TTL counted_at + INTERVAL 40 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

-- The members of lists. Each list has a partition, which is dropped with the list. PostgreSQL records which imports are
-- completed: only their rows count. A row that is inserted twice replaces itself.
CREATE TABLE IF NOT EXISTS list_members
(
    list_id UUID,
    import_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    -- Of lists of e-mails and hems: the hem as 256 bits, as in profile_rows. Of other lists 0.
    hem_number UInt256,
    -- Of lists of domains. Of other lists empty.
    company_domain String CODEC(ZSTD(1)),
    -- Of lists of cookies. Of other lists zero.
    cookie_id UUID CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY list_id
ORDER BY (hem_number, company_domain, cookie_id, import_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The numbers of rejected lines of imports, with the reason. Their content is not kept.
CREATE TABLE IF NOT EXISTS list_rejected_lines
(
    list_id UUID,
    import_id UUID,
    -- From 1.
    line UInt64 CODEC(Delta, ZSTD(1)),
    reason LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY list_id
ORDER BY (import_id, line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Imports insert their lines here. The two views forward each line to list_members or list_rejected_lines.
CREATE TABLE IF NOT EXISTS list_lines
(
    list_id UUID,
    import_id UUID,
    organization_id UUID,
    line UInt64,
    reason String,
    hem_number UInt256,
    company_domain String,
    cookie_id UUID
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS list_lines_members TO list_members AS
SELECT list_id, import_id, organization_id, hem_number, company_domain, cookie_id
FROM list_lines WHERE reason = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS list_lines_rejected TO list_rejected_lines AS
SELECT list_id, import_id, line, reason
FROM list_lines WHERE reason != '';

-- The vocabulary: schemas/topics.csv (../topics.ts), and topics that the operator loads.
CREATE TABLE IF NOT EXISTS intent_topics
(
    topic String,
    label String,
    -- The parent topic. Empty at the top of the tree.
    parent String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY topic;

-- Signals that the operator loads for all organizations, ordered by topic and day. A topic, day, subject and source have
-- one row: the one loaded last counts. The longest window is 450 days.
CREATE TABLE IF NOT EXISTS intent_signals
(
    topic LowCardinality(String),
    date Date,
    -- Of people: the hem as 256 bits, as in profile_rows. Of companies 0.
    hem_number UInt256,
    -- Of companies. Of people empty.
    company_domain String,
    source LowCardinality(String),
    -- From 0 to 100.
    score UInt8,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (topic, date, hem_number, company_domain, source)
TTL date + INTERVAL 450 DAY;

-- The same signals ordered by person, in small granules: a batch needs ten thousand people from anywhere in the table.
-- Signals of companies are stored under 0: each loaded row makes one row here, by which a load counts its rows.
CREATE TABLE IF NOT EXISTS intent_signals_by_person
(
    -- The first eight bytes of the hem.
    hem_key UInt64,
    hem_number UInt256,
    topic LowCardinality(String),
    date Date,
    source LowCardinality(String),
    score UInt8,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(updated_at)
PRIMARY KEY hem_key
ORDER BY (hem_key, hem_number, topic, date, source)
TTL date + INTERVAL 450 DAY
SETTINGS index_granularity = 128, min_compress_block_size = 4096, max_compress_block_size = 65536;

CREATE MATERIALIZED VIEW IF NOT EXISTS intent_signals_by_person_view TO intent_signals_by_person AS
SELECT toUInt64(hem_number) AS hem_key, hem_number, topic, date, source, score, updated_at
FROM intent_signals;

-- How many of an organization's own events are about a topic by its rules, for each day and cookie. Reads resolve the
-- person of the cookie. intent_event_runs names the valid run of each day.
CREATE TABLE IF NOT EXISTS intent_event_days
(
    organization_id UUID,
    topic LowCardinality(String),
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    cookie_id UUID,
    events UInt64 CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (organization_id, topic, date, run_id, cookie_id)
TTL date + INTERVAL 450 DAY;

CREATE TABLE IF NOT EXISTS intent_event_runs
(
    organization_id UUID,
    date Date,
    run_id UUID,
    -- Of the rules and of the day's events when they were counted: another fingerprint means that they have changed.
    fingerprint String,
    counted_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(counted_at)
ORDER BY (organization_id, date)
TTL date + INTERVAL 450 DAY;
