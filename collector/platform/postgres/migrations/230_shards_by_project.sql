-- ClickHouse's own cluster has the events of a project on the shard of its id's hash: no pixel has a place of its own.
DROP TABLE pixel_shards, shard_placements, shard_moves;
ALTER TABLE clickhouse_shards DROP COLUMN weight;

-- An unavailable shard delays all events, so nothing is kept for each shard.
DROP FUNCTION IF EXISTS note_deleted_pixel() CASCADE;
DROP TABLE deleted_pixels;
ALTER TABLE ship_turns DROP COLUMN unsettled_shards;
ALTER TABLE collectors DROP COLUMN shard_marks;
ALTER TABLE event_log_partitions DROP COLUMN settled, DROP COLUMN delayed;
