-- The counters of a run are shown from then on: later than its request if the allowance of free answers was used up.
ALTER TABLE export_runs ADD COLUMN numbers_from timestamptz NOT NULL DEFAULT now();
-- Each record counts when it has an outcome. How many follow is the count of the build.
ALTER TABLE export_runs DROP COLUMN records_expected;
