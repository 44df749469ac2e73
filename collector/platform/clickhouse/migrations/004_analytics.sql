-- One narrow row for each event of the pixels, with the facts of its session. Derived: analytics/hits builds it from
-- events, and can build it again at any time. A session is (cookie_id, is_bot, ts_millis - session_ms) of a project.
CREATE TABLE IF NOT EXISTS hits
(
    organization_id UUID CODEC(ZSTD(1)),
    project_id UUID,
    pixel_id UUID CODEC(ZSTD(1)),
    ts_millis Int64 CODEC(Delta, ZSTD(1)),
    cookie_id UUID CODEC(ZSTD(1)),
    is_bot Bool CODEC(ZSTD(1)),
    -- The low bits of a hash of event_id: with visitor and time it finds the event.
    event_key UInt32 CODEC(ZSTD(1)),
    event_type LowCardinality(String) CODEC(ZSTD(1)),
    event_name LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    page_host LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    page_path LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    -- event_data with nothing but its properties; empty without any.
    event_data String CODEC(ZSTD(1)),
    -- Milliseconds since the first event of the session.
    session_ms Int32 CODEC(ZSTD(1)),
    -- The number of this event in the session, and of its page views so far, from 1.
    session_event UInt32 CODEC(ZSTD(1)),
    session_page UInt32 CODEC(ZSTD(1)),
    -- Since the event before, on the page of the view number session_page (of a view: the one before); 0 before any view.
    session_gap_ms UInt32 CODEC(ZSTD(1)),
    -- Fields of the session's first event.
    session_source LowCardinality(String) CODEC(ZSTD(1)),
    session_channel LowCardinality(String) CODEC(ZSTD(1)),
    session_referrer_host LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_utm_source LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_utm_medium LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_utm_campaign LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_utm_term LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_utm_content LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_country LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_region LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_city LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_language LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_device_type LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_browser LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    session_os LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    -- What the next event needs to know: the day of the first event since the last rest, and the last campaign and outside
    -- referrer since then (hashes; 0: none).
    visit_day Date CODEC(ZSTD(1)),
    visit_campaign UInt32 CODEC(ZSTD(1)),
    visit_referrer UInt32 CODEC(ZSTD(1)),
    -- Came after a later event of its visitor: its sessions are built again.
    is_late Bool CODEC(ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    INDEX cookie_id_bloom cookie_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(ts_millis, 'UTC'))
ORDER BY (project_id, ts_millis, cookie_id)
-- For deletions that write only what they delete (lightweight_update).
SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1;

-- Daily figures that the operator imported from another product. They are read-only history of days before the first
-- event of the project. An empty dimension has the figures of the complete day. A repeated import replaces its rows.
CREATE TABLE IF NOT EXISTS imported_days
(
    project_id UUID,
    source LowCardinality(String),
    dimension LowCardinality(String),
    date Date,
    value String CODEC(ZSTD(1)),
    visitors UInt64 CODEC(ZSTD(1)),
    page_views UInt64 CODEC(ZSTD(1)),
    sessions UInt64 CODEC(ZSTD(1)),
    imported_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(imported_at)
ORDER BY (project_id, source, dimension, date, value);
