-- The class `mend` of failed records is called `needs_action`. Processes of the previous version still write `mend`.
ALTER TABLE export_runs DROP CONSTRAINT export_runs_stop_class_check;
UPDATE export_runs SET stop_class = 'needs_action' WHERE stop_class = 'mend';
ALTER TABLE export_runs ADD CONSTRAINT export_runs_stop_class_check
  CHECK (stop_class IN ('retry', 'mend', 'needs_action', 'never'));
ALTER TABLE export_outcomes DROP CONSTRAINT export_outcomes_class_check;
UPDATE export_outcomes SET class = 'needs_action' WHERE class = 'mend';
ALTER TABLE export_outcomes ADD CONSTRAINT export_outcomes_class_check
  CHECK (class IN ('retry', 'mend', 'needs_action', 'never'));
