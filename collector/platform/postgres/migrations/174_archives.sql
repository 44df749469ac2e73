-- Copies of a project's raw events in a customer's bucket, by the hour.
CREATE TABLE archives (
  archive_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  integration_id uuid NOT NULL REFERENCES integrations ON DELETE CASCADE,
  active boolean NOT NULL DEFAULT true,
  -- The first hour.
  starts_at timestamptz NOT NULL,
  -- The hour that is archived next.
  next_hour timestamptz NOT NULL,
  -- Why the next hour waits, and the reason in words. Null: it does not wait.
  paused_by text CHECK (paused_by IN ('budget_exceeded', 'platform_cap_exceeded', 'destination')),
  paused_reason text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Two archives would overwrite each other's files.
  UNIQUE (project_id, integration_id)
);
CREATE INDEX archives_by_integration ON archives (integration_id);

-- The files of archives. Each has the events of `hour` that arrived in the turn of `run_hour`.
CREATE TABLE archive_files (
  file_id uuid PRIMARY KEY,
  archive_id uuid NOT NULL REFERENCES archives ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  -- 1 for the first file of the hour; the further ones have late events.
  part integer NOT NULL,
  run_hour timestamptz NOT NULL,
  rows bigint NOT NULL,
  -- Null until the file is in the bucket.
  bytes bigint,
  sha256 text,
  stored_at timestamptz,
  UNIQUE (archive_id, hour, part),
  UNIQUE (archive_id, hour, run_hour)
);
