-- Figures of whole days, so that the overview does not scan their events. A job counts them (analytics/rollup). Reads
-- use them only while the day has the same events as when it was counted.

-- A number for each visitor of a project: merging sets of numbers (bitmaps) is a hundred times faster than merging sets
-- of ids. A number is never reused. The bitmaps of days refer to numbers, so numbers are durable first.
CREATE TABLE IF NOT EXISTS analytics_visitors
(
    project_id UUID,
    cookie_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    -- From 1.
    number UInt32,
    -- Distinguishes numbers assigned again from those that had been deleted.
    numbered_at DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (project_id, cookie_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- For each day, the figures by the values of each dimension. The figures of the whole day have an empty dimension.
CREATE TABLE IF NOT EXISTS analytics_days
(
    project_id UUID,
    dimension LowCardinality(String),
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    -- Figures exclude bots by default: their events have rows of their own.
    is_bot Bool CODEC(ZSTD(1)),
    value Nullable(String) CODEC(ZSTD(1)),
    events UInt64 CODEC(ZSTD(1)),
    page_views UInt64 CODEC(ZSTD(1)),
    visitors AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (project_id, dimension, date);

-- The same for sessions. A session is counted on the day on which half an hour has passed since its last event, so no
-- later day changes it. Empty dimension: the counts. entry_page and exit_page: by path.
CREATE TABLE IF NOT EXISTS analytics_session_days
(
    project_id UUID,
    dimension LowCardinality(String),
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    -- The day of the last event, or of the page view in page_ms. A window leaves out rows from before its start.
    since Date,
    value Nullable(String) CODEC(ZSTD(1)),
    sessions UInt64 CODEC(ZSTD(1)),
    viewing_sessions UInt64 CODEC(ZSTD(1)),
    bounced_sessions UInt64 CODEC(ZSTD(1)),
    page_ms Int64 CODEC(ZSTD(1)),
    visitors AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1)),
    events UInt64 CODEC(ZSTD(1)),
    page_views UInt64 CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (project_id, dimension, date);

-- The valid run of each day, and the events that it counted.
CREATE TABLE IF NOT EXISTS analytics_runs
(
    project_id UUID,
    -- events or sessions.
    of LowCardinality(String),
    date Date,
    run_id UUID,
    -- Empty: the day has no run.
    fingerprint String,
    -- The pixels that sent the events.
    pixel_ids Array(UUID),
    counted_at DateTime64(3, 'UTC') DEFAULT now64(3),
    -- 0: the whole day. n: its n-th hour, for a day that is not over.
    hour UInt8
)
ENGINE = ReplacingMergeTree(counted_at)
PRIMARY KEY (project_id, of, date)
ORDER BY (project_id, of, date, hour);

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
    -- any: a session of a visitor without events of bots nearby. The others have a row with and one without these.
    bots Enum8('any' = 0, 'excluded' = 1, 'included' = 2) CODEC(ZSTD(1)),
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
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1)),
    -- The events of the session, in their order, so that figures of events in filtered sessions, funnels and journeys need
    -- not read the events. The row of the day of the last event has all of them.
    `met.day` Array(Date) CODEC(ZSTD(1)),
    `met.event_ms` Array(Int64) CODEC(Delta(8), ZSTD(1)),
    `met.event_type` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `met.page_path` Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    `met.page_host` Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    `met.event_name` Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    -- Empty, or event_data with nothing but its properties.
    `met.event_data` Array(String) CODEC(ZSTD(1)),
    -- A hash of the visitor: a read of a part of the visitors reads a part of the rows of a run.
    sample UInt16 CODEC(ZSTD(1)),
    INDEX sample_minmax sample TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PRIMARY KEY (project_id, date, run_id)
ORDER BY (project_id, date, run_id, sample);

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
