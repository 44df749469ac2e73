-- On whose disk an upload waits: the collector that took it, and alone can import it. Null: of before, on any.
ALTER TABLE list_imports ADD COLUMN collector_id uuid;
