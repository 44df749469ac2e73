-- Everything that a collector accepted before erased_until_ms is in ClickHouse, and none of its dead letters is about
-- whom an erasure names that was asked for before.
ALTER TABLE collectors ADD COLUMN erased_until_ms bigint NOT NULL DEFAULT 0;
