-- Pixels, which send events, and collectors, which receive events and ship them to ClickHouse.

CREATE TABLE pixels (
  pixel_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  -- Origins whose pages may send events. Empty: any.
  allowed_origins text[] NOT NULL DEFAULT '{}',
  -- PixelSettings and CollectorSettings (schemas/beacon.ts). A key that is not set has its default.
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The valid versions of the identify secret: one, and the previous one during a rotation. The secrets are derived
  -- from their versions.
  identify_secret_newest integer NOT NULL DEFAULT 1,
  identify_secret_oldest integer NOT NULL DEFAULT 1
);
CREATE INDEX pixels_by_project ON pixels (project_id);

-- What custom events of a project should look like.
CREATE TABLE tracking_plans (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  on_violation text NOT NULL CHECK (on_violation IN ('mark', 'reject')),
  on_unplanned text NOT NULL CHECK (on_unplanned IN ('accept', 'mark', 'reject')),
  -- By name: { "description", "schema" }. As text, which keeps the order of a schema's members.
  events json NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Scripts that pages may have pinned by version: the answer stays the same when the pixel's settings change.
CREATE TABLE pixel_scripts (
  pixel_id uuid NOT NULL REFERENCES pixels ON DELETE CASCADE,
  version text NOT NULL,
  source text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (pixel_id, version)
);

-- When each pixel last sent an event, and whether its silence was reported.
CREATE TABLE pixel_voices (
  pixel_id uuid PRIMARY KEY REFERENCES pixels ON DELETE CASCADE,
  last_event_at timestamptz NOT NULL,
  -- Null while the pixel sends events.
  silence_told_at timestamptz
);

-- Since when the service has observed pixels without a gap. Silence before that time proves nothing.
CREATE TABLE pixel_listening (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  since timestamptz NOT NULL,
  last_at timestamptz NOT NULL
);

-- Salts from which the ids of visitors without consent are made. A day's salt is deleted when the day is over.
CREATE TABLE daily_salts (
  day date PRIMARY KEY,
  salt text NOT NULL
);

-- The machines that receive events.
CREATE TABLE collectors (
  collector_id uuid PRIMARY KEY,
  hostname text NOT NULL,
  -- The watermark: all events that the collector received earlier are in ClickHouse.
  complete_until_ms bigint NOT NULL,
  reported_at timestamptz NOT NULL DEFAULT now(),
  -- All events that the collector accepted earlier are in ClickHouse, and none of its dead letters is about a person
  -- whose erasure was requested earlier.
  erased_until_ms bigint NOT NULL DEFAULT 0,
  -- When the collector stopped after everything that it had received was in ClickHouse; null while it may receive more.
  released_at timestamptz
);

-- One collector at a time ships events. This row counts the leases and names the collector that has not ended its lease.
CREATE TABLE ship_leases (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  lease bigint NOT NULL,
  collector_id uuid
);
INSERT INTO ship_leases (lease) VALUES (0);

-- Hashes (8 bytes each) of the ids that a collector was about to ship under its lease, for the other collectors. Holds
-- the last few leases.
CREATE TABLE shipped_ids (
  lease bigint PRIMARY KEY,
  hashes bytea NOT NULL
);
-- Hashes cannot be compressed.
ALTER TABLE shipped_ids ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- How far the replicated event log (collector/ingest/nats) is consumed. Only the holder of the log's lease writes it.
CREATE TABLE event_log_streams (
  stream text PRIMARY KEY,
  -- When NATS created the stream: the positions of another stream of the same name mean nothing.
  stream_created text NOT NULL,
  -- ClickHouse has all messages up to this position.
  committed bigint NOT NULL,
  -- The earliest time of receipt, epoch milliseconds, of committed rows that ClickHouse may have lost in a crash.
  doubtful_from_ms double precision NOT NULL DEFAULT 'Infinity',
  -- The start times of ClickHouse's servers, seconds since 1970, that have all committed messages. While the same servers
  -- run, a new owner need not search for the rows.
  clickhouse_starts jsonb
);

-- The shards of ClickHouse that hold events, in order. A start with other shards is refused.
CREATE TABLE clickhouse_shards (
  database text,
  position integer,
  shard_id uuid NOT NULL,
  PRIMARY KEY (database, position)
);
