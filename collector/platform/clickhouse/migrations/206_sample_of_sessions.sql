-- Rows of a run in the order of `sample`, a hash of the visitor, so that a read of a part of the visitors reads a part of
-- the rows.
ALTER TABLE counted_sessions
    ADD COLUMN IF NOT EXISTS sample UInt16 CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS sample_minmax sample TYPE minmax GRANULARITY 1,
    MODIFY ORDER BY (project_id, date, run_id, sample);
