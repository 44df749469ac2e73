-- When a collector stopped after everything that it had received was in ClickHouse; null while it may receive more.
ALTER TABLE collectors ADD COLUMN released_at timestamptz;
