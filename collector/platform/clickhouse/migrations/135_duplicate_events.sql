-- Events that came again and were left out, by their ids alone: the shipper writes them down, traces tell of them. The
-- place in the spool tells one from another, so what is written twice counts once. Kept for thirty days.
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
ENGINE = {engine}ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (organization_id, event_id, received_at, spool_id, seq)
TTL toDateTime(received_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000;
