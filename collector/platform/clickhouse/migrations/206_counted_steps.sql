-- The events of counted sessions, in order, so that funnels and journeys need not read the events. They are in the row of
-- the session's last day. The job counts all days again, because the version in the fingerprints of runs has changed
-- (analytics/rollup/runs.ts). Rows of a run are in the order of `sample`, a hash of the visitor, so that a read of a part of
-- the visitors reads a part of the rows.
ALTER TABLE counted_sessions
    ADD COLUMN IF NOT EXISTS event_ms Array(Int64) CODEC(Delta(8), ZSTD(1)),
    ADD COLUMN IF NOT EXISTS event_types Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS page_paths Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sample UInt16 CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS sample_minmax sample TYPE minmax GRANULARITY 1,
    MODIFY ORDER BY (project_id, date, run_id, sample);
