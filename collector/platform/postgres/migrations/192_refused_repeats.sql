-- When a repeat was refused that budgets and limits did not cover. Its refusal told that the answer has a record that was
-- not charged, so no further repeat is read unless they cover it. Null: none was refused.
ALTER TABLE idempotent_charges ADD COLUMN refused_at timestamptz;
