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
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
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
