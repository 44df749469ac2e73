-- Sessions without bots, one row for each day with events of the session, so that figures with filters on sessions need
-- not read the events. A job writes them (analytics/counting), as runs like those of analytics_session_days.
CREATE TABLE IF NOT EXISTS counted_sessions
(
    project_id UUID,
    -- The day on which the session closed.
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    -- The day of the events and page views of the row.
    since Date CODEC(ZSTD(1)),
    -- The visitor, as in analytics_visitors.
    number UInt32 CODEC(ZSTD(1)),
    -- 1 on the day of the session's last event.
    sessions UInt8 CODEC(ZSTD(1)),
    viewing_sessions UInt8 CODEC(ZSTD(1)),
    bounced_sessions UInt8 CODEC(ZSTD(1)),
    events UInt32 CODEC(ZSTD(1)),
    page_views UInt32 CODEC(ZSTD(1)),
    page_ms Int64 CODEC(ZSTD(1)),
    _of_channel LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_source LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_referrer_host LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_utm_source LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_utm_medium LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_utm_campaign LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_country LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_region LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_city LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_language LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_device_type LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_browser LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_os LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_entry_page LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    _of_exit_page LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (project_id, date, run_id);
