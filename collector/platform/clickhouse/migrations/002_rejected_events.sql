-- What the collector turned away, and why. Kept for thirty days.
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
    -- As sent, JSON, cut to 4 KiB.
    event String CODEC(ZSTD(1)),
    spool_id UUID,
    seq UInt64
)
ENGINE = {engine}MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (project_id, received_at)
TTL toDateTime(received_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
