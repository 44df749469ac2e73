-- The audience of a list: whoever it names, built for exports of the list and shown nowhere.
ALTER TABLE audiences
  ADD COLUMN list_id uuid UNIQUE REFERENCES lists ON DELETE CASCADE,
  -- Of which version of the list's members its newest build is, at least.
  ADD COLUMN list_version bigint;

-- Goes up whenever who is in the list changes.
ALTER TABLE lists ADD COLUMN members_version bigint NOT NULL DEFAULT 0;

-- Null until the list that is sent has been read.
ALTER TABLE export_runs ALTER COLUMN records_expected DROP NOT NULL;
