-- The shards of ClickHouse that events lie on, in their order: a start with any others is refused.
CREATE TABLE clickhouse_shards (
  database text,
  position integer,
  shard_id uuid NOT NULL,
  PRIMARY KEY (database, position)
);
