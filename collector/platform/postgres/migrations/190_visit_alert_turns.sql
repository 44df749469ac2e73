-- When the rule was last matched, or failed. A rule that takes long, or always fails, is then the last one of the next pass,
-- even if it has not reached the present. Null: never.
ALTER TABLE visit_alerts ADD COLUMN tried_at timestamptz;
