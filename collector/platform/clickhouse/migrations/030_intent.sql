-- What people and companies are interested in.

-- The vocabulary: schemas/topics.csv (topics.ts), and what the operator loads.
CREATE TABLE IF NOT EXISTS intent_topics
(
    topic String,
    label String,
    -- The topic that it is a part of; empty at the top of the tree.
    parent String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
ORDER BY topic;

-- Signals that the operator loads, for all organizations, by topic: a day of a topic lies together. One row for each
-- topic, day, subject and source; the one loaded last counts. No window reaches back further than 450 days.
CREATE TABLE IF NOT EXISTS intent_signals
(
    topic LowCardinality(String),
    date Date,
    -- Of people: the hem as 256 bits, as in profile_rows. Of companies 0.
    hem_number UInt256,
    -- Of companies; of people empty.
    company_domain String,
    source LowCardinality(String),
    -- From 0 to 100.
    score UInt8,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(ZSTD(1))
)
ENGINE = {engine}ReplacingMergeTree(updated_at)
ORDER BY (topic, date, hem_number, company_domain, source)
TTL date + INTERVAL 450 DAY;

-- The same by person, in small granules: a batch asks for ten thousand people that lie anywhere. (Those of companies are
-- under 0, so that each row makes one, by which loading knows how many it has taken.)
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
ENGINE = {engine}ReplacingMergeTree(updated_at)
PRIMARY KEY hem_key
ORDER BY (hem_key, hem_number, topic, date, source)
TTL date + INTERVAL 450 DAY
SETTINGS index_granularity = 128, min_compress_block_size = 4096, max_compress_block_size = 65536;

CREATE MATERIALIZED VIEW IF NOT EXISTS intent_signals_by_person_view TO intent_signals_by_person AS
SELECT toUInt64(hem_number) AS hem_key, hem_number, topic, date, source, score, updated_at
FROM intent_signals;

-- How many of an organization's own events are about a topic by its rules, for each day and cookie. Whose the cookie is
-- is asked when it is read. intent_event_runs says which run of a day counts.
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
ENGINE = {engine}MergeTree
ORDER BY (organization_id, topic, date, run_id, cookie_id)
TTL date + INTERVAL 450 DAY;

CREATE TABLE IF NOT EXISTS intent_event_runs
(
    organization_id UUID,
    date Date,
    run_id UUID,
    -- Of the rules and of the day's events when they were counted: another one now says that they have changed.
    fingerprint String,
    counted_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {engine}ReplacingMergeTree(counted_at)
ORDER BY (organization_id, date)
TTL date + INTERVAL 450 DAY;
