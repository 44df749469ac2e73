-- Why a parked run of an export waits: its `error` while it is parked.
ALTER TABLE export_runs ADD COLUMN park_reason text;
