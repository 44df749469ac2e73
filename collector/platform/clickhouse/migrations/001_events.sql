-- One row per event. The readable columns come from the field table (schemas/fields.ts); a field added there is
-- added here at the next start. Newest-first pages of a project read the end of the primary key.
CREATE TABLE IF NOT EXISTS {events}
(
    organization_id UUID,
    {event_columns},
    -- Where the row lay in a collector's spool: how a shipped batch is found again after a crash.
    spool_id UUID,
    seq UInt64 CODEC(Delta, ZSTD(1)),
    INDEX event_type_set event_type TYPE set(16) GRANULARITY 4,
    INDEX cookie_id_bloom cookie_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1,
    -- Answers "is this event here already?" for the shipper, whatever its time.
    PROJECTION by_event_id (SELECT event_id, project_id ORDER BY event_id)
)
ENGINE = {engine}MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(ts_millis, 'UTC'))
ORDER BY (project_id, ts_millis, event_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
