-- When an opt-out began or ended last. ClickHouse keeps the newest change of each, in whatever order changes arrive.
ALTER TABLE opt_outs ADD COLUMN changed_at timestamptz NOT NULL DEFAULT clock_timestamp();
