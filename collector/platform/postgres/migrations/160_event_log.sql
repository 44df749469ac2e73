-- The replicated event log (collector/ingest/nats). One consumer at a time owns a partition, until `expires_at`.
CREATE TABLE event_log_partitions (
  stream text PRIMARY KEY,
  -- When NATS created the stream: the positions of another stream of the same name mean nothing.
  stream_created text NOT NULL DEFAULT '',
  -- Null after an orderly release: no insert of the previous owner runs.
  owner uuid,
  -- The fencing token: it grows with each owner, and each commit names it.
  token bigint NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL DEFAULT '-infinity',
  -- ClickHouse has all messages up to this position.
  committed bigint NOT NULL DEFAULT 0,
  -- The earliest time of receipt, epoch milliseconds, of committed rows that ClickHouse may have lost in a crash.
  doubtful_from_ms double precision
);

-- The machines that consume. Each takes an equal share of the partitions.
CREATE TABLE event_log_consumers (
  consumer_id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);

-- The number of partitions of each log. It may grow when all partitions are consumed.
CREATE TABLE event_logs (
  prefix text PRIMARY KEY,
  partitions integer NOT NULL CHECK (partitions BETWEEN 1 AND 256)
);
