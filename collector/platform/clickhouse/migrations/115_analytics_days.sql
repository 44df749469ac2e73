-- Figures of whole days, so that the overview need not scan their events. A job makes them of the events
-- (analytics/rollup); they are read only while the day's events are those that were counted.

-- A number for each visitor of a project: sets of numbers (bitmaps) are merged a hundred times faster than sets of ids.
-- Numbers are never given twice; a day's bitmaps refer to them, so they are durable before these.
CREATE TABLE IF NOT EXISTS analytics_visitors
(
    project_id UUID,
    cookie_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    -- From 1.
    number UInt32
)
ENGINE = {engine}MergeTree
ORDER BY (project_id, cookie_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Of each day the values of each dimension; the whole day has an empty one.
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
ENGINE = {engine}MergeTree
ORDER BY (project_id, dimension, date);

-- The same of sessions, each on the day on which half an hour has passed since its last event, so that no later day
-- changes it. Empty dimension: the counts; entry_page and exit_page: by the path.
CREATE TABLE IF NOT EXISTS analytics_session_days
(
    project_id UUID,
    dimension LowCardinality(String),
    date Date,
    run_id UUID CODEC(ZSTD(1)),
    -- The day of the last event, of page_ms that of the page view: what lies before a window is not of it.
    since Date,
    value Nullable(String) CODEC(ZSTD(1)),
    sessions UInt64 CODEC(ZSTD(1)),
    viewing_sessions UInt64 CODEC(ZSTD(1)),
    bounced_sessions UInt64 CODEC(ZSTD(1)),
    page_ms Int64 CODEC(ZSTD(1)),
    visitors AggregateFunction(groupBitmap, UInt32) CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = {engine}MergeTree
ORDER BY (project_id, dimension, date);

-- Which run of a day counts, and what its events were.
CREATE TABLE IF NOT EXISTS analytics_runs
(
    project_id UUID,
    -- events or sessions.
    of LowCardinality(String),
    date Date,
    run_id UUID,
    -- Empty: the day has no run.
    fingerprint String,
    -- The pixels that its events came from.
    pixel_ids Array(UUID),
    counted_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {engine}ReplacingMergeTree(counted_at)
ORDER BY (project_id, of, date);
