-- The machines that receive events. Everything that one of them received before complete_until_ms is in ClickHouse.
CREATE TABLE collectors (
  collector_id uuid PRIMARY KEY,
  hostname text NOT NULL,
  complete_until_ms bigint NOT NULL,
  reported_at timestamptz NOT NULL DEFAULT now()
);
