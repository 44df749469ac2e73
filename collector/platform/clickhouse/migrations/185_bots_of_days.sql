-- Figures exclude bots by default. Events of bots have rows of their own; the job counts all days again, because the
-- version in the fingerprints of runs has changed (analytics/rollup/runs.ts).
ALTER TABLE analytics_days ADD COLUMN IF NOT EXISTS is_bot Bool CODEC(ZSTD(1)) AFTER run_id;
