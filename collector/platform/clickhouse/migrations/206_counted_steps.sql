-- The events of counted sessions, in order, so that funnels and journeys need not read the events. They are in the row of
-- the session's last day. The job counts all days again, because the version in the fingerprints of runs has changed
-- (analytics/rollup/runs.ts).
ALTER TABLE counted_sessions
    ADD COLUMN IF NOT EXISTS event_ms Array(Int64) CODEC(Delta(8), ZSTD(1)),
    ADD COLUMN IF NOT EXISTS event_types Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS page_paths Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1));
