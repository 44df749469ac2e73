-- Where the events of pixels are, once a shard was added or a pixel moved. Before that, the hash of a pixel's id tells its
-- shard, and `pixel_shards` has no rows. Afterwards it has every pixel with events.
CREATE TABLE shard_placements (
  database text PRIMARY KEY,
  -- Changes with each move and each added shard.
  version integer NOT NULL
);
CREATE TABLE pixel_shards (
  database text,
  pixel_id uuid,
  -- From 0, in the order of clickhouse_shards.
  shard integer NOT NULL,
  PRIMARY KEY (database, pixel_id)
);

-- Pixels of which two shards have events, because they are being moved. Reads ignore one of the copies.
CREATE TABLE shard_moves (
  database text,
  pixel_id uuid,
  from_shard integer NOT NULL,
  to_shard integer NOT NULL,
  -- Whether the new shard's copy is the one to read.
  is_switched boolean NOT NULL DEFAULT false,
  started_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (database, pixel_id)
);

-- The share of new pixels that a shard receives.
ALTER TABLE clickhouse_shards ADD COLUMN weight real NOT NULL DEFAULT 1 CHECK (weight >= 0);
