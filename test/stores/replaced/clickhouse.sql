-- 001_events.sql
CREATE TABLE IF NOT EXISTS {events}
(
    organization_id UUID,
    {event_columns},
    spool_id UUID,
    seq UInt64 CODEC(Delta, ZSTD(1)),
    INDEX event_type_set event_type TYPE set(16) GRANULARITY 4,
    INDEX cookie_id_bloom cookie_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1,
    PROJECTION by_event_id (SELECT event_id, project_id ORDER BY event_id)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(ts_millis, 'UTC'))
ORDER BY (project_id, ts_millis, event_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
-- 002_rejected_events.sql
CREATE TABLE IF NOT EXISTS rejected_events
(
    received_at DateTime64(3, 'UTC'),
    organization_id UUID,
    project_id UUID,
    pixel_id UUID,
    event_id Nullable(String),
    event_type Nullable(String),
    path String,
    message String,
    event String CODEC(ZSTD(1)),
    spool_id UUID,
    seq UInt64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (project_id, received_at)
TTL toDateTime(received_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
-- 003_identity_links.sql
CREATE TABLE IF NOT EXISTS identity_links
(
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64),
    pixel_id UUID,
    observed_at DateTime64(3, 'UTC'),
    spool_id UUID,
    seq UInt64
)
ENGINE = ReplacingMergeTree(observed_at)
ORDER BY (organization_id, cookie_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
-- 004_identity.sql
ALTER TABLE identity_links
    ADD COLUMN IF NOT EXISTS confidence Float32 DEFAULT 1,
    ADD COLUMN IF NOT EXISTS source LowCardinality(String) DEFAULT 'identify',
    ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT now64(3);
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
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64) CODEC(ZSTD(1)),
    source LowCardinality(String) DEFAULT 'identify',
    confidence Float32 DEFAULT 1,
    pixel_id UUID,
    observed_at DateTime64(3, 'UTC'),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3),
    spool_id UUID,
    seq UInt64,
    INDEX hem_bloom hem TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(observed_at)
PARTITION BY toYYYYMM(stored_at)
ORDER BY (organization_id, cookie_id, hem, source)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1
AS SELECT organization_id, cookie_id, hem, source, confidence, pixel_id, observed_at, stored_at, spool_id, seq
FROM identity_links;
CREATE TABLE IF NOT EXISTS profiles
(
    hem FixedString(64) CODEC(ZSTD(1)),
    {profile_columns},
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY hem
SETTINGS non_replicated_deduplication_window = 10000;
CREATE TABLE IF NOT EXISTS profile_rows
(
    hem_key UInt64,
    hem_number UInt256,
    pte String CODEC(LZ4),
    profile String CODEC(LZ4),
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
PRIMARY KEY hem_key
ORDER BY (hem_key, hem_number)
SETTINGS index_granularity = 8, min_compress_block_size = 1024, max_compress_block_size = 65536;
CREATE TABLE IF NOT EXISTS companies
(
    company_domain String,
    {company_columns},
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY company_domain
SETTINGS non_replicated_deduplication_window = 10000;
CREATE TABLE IF NOT EXISTS company_networks
(
    network String,
    company_domain String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY network
SETTINGS non_replicated_deduplication_window = 10000;
-- 006_projects.sql
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_organization
    (SELECT organization_id, project_id GROUP BY organization_id, project_id);
ALTER TABLE {events} MATERIALIZE PROJECTION by_organization;
-- 007_dsp.sql
ALTER TABLE {events} ADD COLUMN IF NOT EXISTS spend Nullable(Decimal(18, 6)) AFTER campaign_id;
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_campaign
    (SELECT organization_id, project_id, source, campaign_id, event_type,
            toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS date, count(), sum(spend)
     GROUP BY organization_id, project_id, source, campaign_id, event_type, date);
ALTER TABLE {events} MATERIALIZE PROJECTION by_campaign;
-- 008_privacy.sql
ALTER TABLE rejected_events ADD COLUMN IF NOT EXISTS cookie_id UUID AFTER pixel_id;
CREATE TABLE IF NOT EXISTS opt_outs
(
    organization_id UUID,
    hem String,
    cookie_id UUID,
    is_active Bool,
    changed_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplacingMergeTree(changed_at)
ORDER BY (organization_id, hem, cookie_id);
-- 009_identity_loading.sql
CREATE OR REPLACE TABLE identity_links
(
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64) CODEC(ZSTD(1)),
    source LowCardinality(String) DEFAULT 'identify',
    confidence Float32 DEFAULT 1,
    pixel_id UUID,
    observed_at DateTime64(3, 'UTC'),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3),
    spool_id UUID,
    seq UInt64,
    INDEX hem_bloom hem TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(observed_at)
PARTITION BY if(source = 'loaded', toString(organization_id), toString(toYYYYMM(stored_at)))
ORDER BY (organization_id, cookie_id, hem, source)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1
AS SELECT organization_id, cookie_id, hem, source, confidence, pixel_id, observed_at, stored_at, spool_id, seq
FROM identity_links;
CREATE TABLE IF NOT EXISTS identity_loads
(
    load_id String,
    target LowCardinality(String),
    started_at DateTime64(3, 'UTC'),
    phase LowCardinality(String),
    file UInt32,
    bytes UInt64,
    lines UInt64,
    rows UInt64,
    rejected UInt64,
    rejected_bytes UInt64,
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY load_id;
-- 010_home_language.sql
DROP VIEW IF EXISTS profile_rows_from_profiles;
ALTER TABLE profiles RENAME COLUMN IF EXISTS language TO home_language;
-- 011_unknown_is_null.sql
ALTER TABLE {events}
    MODIFY COLUMN user_agent Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN client_ip Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN page_url Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN page_host LowCardinality(Nullable(String)),
    MODIFY COLUMN page_path Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN device_type LowCardinality(Nullable(String));
ALTER TABLE {events}
    UPDATE user_agent = nullIf(user_agent, ''), client_ip = nullIf(client_ip, ''), page_url = nullIf(page_url, ''),
        page_host = nullIf(page_host, ''), page_path = nullIf(page_path, ''), device_type = nullIf(device_type, '')
    WHERE user_agent = '' OR client_ip = '' OR page_url = '' OR page_host = '' OR page_path = '' OR device_type = '';
-- 012_refused_beacons.sql
ALTER TABLE rejected_events ADD COLUMN IF NOT EXISTS refusal LowCardinality(String) DEFAULT '' AFTER event_type;
-- 014_audiences.sql
CREATE TABLE IF NOT EXISTS audience_members
(
    build_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    key Int64 CODEC(Delta, ZSTD(1)),
    hem_number UInt256,
    company_domain String CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY build_id
ORDER BY (build_id, key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
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
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_day
    (SELECT project_id, toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS day, count(),
            groupBitXor(cityHash64(event_id))
     GROUP BY project_id, day);
ALTER TABLE {events} MATERIALIZE PROJECTION by_day;
-- 030_intent.sql
CREATE TABLE IF NOT EXISTS intent_topics
(
    topic String,
    label String,
    parent String,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY topic;
CREATE TABLE IF NOT EXISTS intent_signals
(
    topic LowCardinality(String),
    date Date,
    hem_number UInt256,
    company_domain String,
    source LowCardinality(String),
    score UInt8,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (topic, date, hem_number, company_domain, source)
TTL date + INTERVAL 450 DAY;
CREATE TABLE IF NOT EXISTS intent_signals_by_person
(
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
    fingerprint String,
    counted_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(counted_at)
ORDER BY (organization_id, date)
TTL date + INTERVAL 450 DAY;
-- 040_lists.sql
CREATE TABLE IF NOT EXISTS list_members
(
    list_id UUID,
    import_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    hem_number UInt256,
    company_domain String CODEC(ZSTD(1)),
    cookie_id UUID CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY list_id
ORDER BY (hem_number, company_domain, cookie_id, import_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
CREATE TABLE IF NOT EXISTS list_rejected_lines
(
    list_id UUID,
    import_id UUID,
    line UInt64 CODEC(Delta, ZSTD(1)),
    reason LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY list_id
ORDER BY (import_id, line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
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
-- 095_api_requests.sql
CREATE TABLE IF NOT EXISTS api_requests
(
    organization_id UUID,
    at DateTime64(3, 'UTC'),
    request_id UUID,
    project_id Nullable(UUID),
    caller_kind LowCardinality(String),
    caller_id UUID,
    mode LowCardinality(String),
    method LowCardinality(String),
    route LowCardinality(String),
    target String CODEC(ZSTD(1)),
    status UInt16,
    error LowCardinality(String),
    latency_ms UInt32
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (organization_id, at, request_id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000;
-- 115_analytics_days.sql
CREATE TABLE IF NOT EXISTS analytics_visitors
(
    project_id UUID,
    cookie_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    number UInt32
)
ENGINE = MergeTree
ORDER BY (project_id, cookie_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
CREATE TABLE IF NOT EXISTS analytics_days
(
    project_id UUID,
    dimension LowCardinality(String),
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    value Nullable(String) CODEC(ZSTD(1)),
    events UInt64 CODEC(ZSTD(1)),
    page_views UInt64 CODEC(ZSTD(1)),
    visitors AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (project_id, dimension, date);
CREATE TABLE IF NOT EXISTS analytics_session_days
(
    project_id UUID,
    dimension LowCardinality(String),
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    since Date,
    value Nullable(String) CODEC(ZSTD(1)),
    sessions UInt64 CODEC(ZSTD(1)),
    viewing_sessions UInt64 CODEC(ZSTD(1)),
    bounced_sessions UInt64 CODEC(ZSTD(1)),
    page_ms Int64 CODEC(ZSTD(1)),
    visitors AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (project_id, dimension, date);
CREATE TABLE IF NOT EXISTS analytics_runs
(
    project_id UUID,
    of LowCardinality(String),
    date Date,
    run_id UUID,
    fingerprint String,
    pixel_ids Array(UUID),
    counted_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(counted_at)
ORDER BY (project_id, of, date);
-- 135_duplicate_events.sql
CREATE TABLE IF NOT EXISTS duplicate_events
(
    organization_id UUID,
    project_id UUID,
    pixel_id UUID,
    event_id UUID,
    received_at DateTime64(3, 'UTC'),
    spool_id UUID,
    seq UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (organization_id, event_id, received_at, spool_id, seq)
TTL toDateTime(received_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000;
-- 175_events_by_hour.sql
ALTER TABLE {events} DROP PROJECTION IF EXISTS by_day;
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_hour
    (SELECT project_id, intDiv(ts_millis, 3600000) AS hour, count(), groupBitXor(cityHash64(event_id))
     GROUP BY project_id, hour);
ALTER TABLE {events} MATERIALIZE PROJECTION by_hour;
ALTER TABLE analytics_runs ADD COLUMN IF NOT EXISTS hour UInt8, MODIFY ORDER BY (project_id, of, date, hour);
ALTER TABLE analytics_visitors ADD COLUMN IF NOT EXISTS numbered_at DateTime64(6, 'UTC') CODEC(ZSTD(1));
