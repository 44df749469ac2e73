-- The events of each counted session, in their order, so that figures of events in filtered sessions, funnels and
-- journeys need not read the events. The row of the day of the last event has all of them. The job counts all days
-- again, because the version in the fingerprints of runs has changed (analytics/rollup/runs.ts).
ALTER TABLE counted_sessions
    -- any: a session of a visitor without events of bots nearby. The others have a row with and one without these.
    ADD COLUMN IF NOT EXISTS bots Enum8('any' = 0, 'excluded' = 1, 'included' = 2) CODEC(ZSTD(1)) AFTER since,
    ADD COLUMN IF NOT EXISTS met.day Array(Date) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS met.event_ms Array(Int64) CODEC(Delta(8), ZSTD(1)),
    ADD COLUMN IF NOT EXISTS met.event_type Array(LowCardinality(String)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS met.page_path Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS met.page_host Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS met.event_name Array(LowCardinality(Nullable(String))) CODEC(ZSTD(1)),
    -- Empty, or event_data with nothing but its properties.
    ADD COLUMN IF NOT EXISTS met.event_data Array(String) CODEC(ZSTD(1));
