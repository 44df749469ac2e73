-- Most records that an archive, or the scheduled runs of an export, charge on a UTC day: strangers send events, and these
-- deliver them without being asked each time.
ALTER TABLE archives
  ADD COLUMN daily_records_max bigint NOT NULL DEFAULT 10000000 CHECK (daily_records_max >= 0),
  DROP CONSTRAINT archives_paused_by_check,
  ADD CONSTRAINT archives_paused_by_check
    CHECK (paused_by IN ('budget_exceeded', 'platform_cap_exceeded', 'destination', 'daily_records_max'));
ALTER TABLE exports
  ADD COLUMN daily_records_max bigint NOT NULL DEFAULT 1000000 CHECK (daily_records_max >= 0),
  -- The UTC day of the last notice that the maximum was reached.
  ADD COLUMN daily_max_noted_on date;
