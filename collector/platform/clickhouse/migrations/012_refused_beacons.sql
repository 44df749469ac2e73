-- Whole beacons that were refused: the error that was answered; empty for an event that was rejected by itself.
ALTER TABLE rejected_events ADD COLUMN IF NOT EXISTS refusal LowCardinality(String) DEFAULT '' AFTER event_type;
