-- With several machines, an unavailable shard delays only its own projects (collector/ingest/decisions/0014).

-- Up to this position, ClickHouse has all messages, except rows that wait for the shards in `delayed`.
ALTER TABLE event_log_partitions ADD COLUMN settled bigint NOT NULL DEFAULT 0;

-- What waits for shards, or may be lost on them; null: nothing.
-- { "version": of shard_placements, "shards": { "1": { "oldestAt": epoch milliseconds, "rows": 20 } } }, shards from 0
ALTER TABLE event_log_partitions ADD COLUMN delayed jsonb;
