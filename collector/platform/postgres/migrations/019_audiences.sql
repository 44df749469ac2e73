-- Audiences: who meets a definition, built from time to time. Their members are in ClickHouse (audience_members).
CREATE TABLE audiences (
  audience_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  entity text NOT NULL CHECK (entity IN ('people', 'companies')),
  definition jsonb NOT NULL,
  intent_window_days integer NOT NULL CHECK (intent_window_days BETWEEN 1 AND 365),
  refresh text NOT NULL DEFAULT 'manual' CHECK (refresh IN ('manual', 'hourly', 'daily')),
  -- The build that is served; null until the first is completed.
  current_build_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audiences_by_project ON audiences (project_id, created_at, audience_id);

-- Which audiences a definition names. Those that are named stay as long as they are.
CREATE TABLE audience_uses (
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  -- Looked at when all is done: a project's audiences are deleted together.
  used_id uuid NOT NULL REFERENCES audiences (audience_id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (audience_id, used_id)
);
CREATE INDEX audience_uses_by_used ON audience_uses (used_id);

CREATE TABLE audience_builds (
  build_id uuid PRIMARY KEY,
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  -- In the order in which they were asked for; one never takes the place of a later one.
  number bigint GENERATED ALWAYS AS IDENTITY,
  -- What is built, as it was when it was asked for.
  definition jsonb NOT NULL,
  intent_window_days integer NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'unloading', 'completed', 'failed')),
  -- From 0 to 1.
  progress real NOT NULL DEFAULT 0,
  -- Why it failed, for people.
  error text,
  -- Up to when events count: the moment at which the build began.
  as_of timestamptz,
  count bigint,
  bucket_counts jsonb,
  requested_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  -- False once its members were dropped.
  members_kept boolean NOT NULL DEFAULT true
);
CREATE INDEX audience_builds_by_audience ON audience_builds (audience_id, number DESC);
CREATE INDEX audience_builds_waiting ON audience_builds (number) WHERE status IN ('pending', 'unloading');
ALTER TABLE audiences ADD FOREIGN KEY (current_build_id) REFERENCES audience_builds (build_id) ON DELETE SET NULL;

-- Of which days the events that meet a leaf were counted, in ClickHouse's table of this name. Leaves that say the same
-- are one, whichever audiences of the project hold them.
CREATE TABLE audience_leaf_days (
  leaf_id uuid NOT NULL,
  day date NOT NULL,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- The rows that count; null where the day has no event.
  run_id uuid,
  -- Of the day's events when they were counted; another one now says that they have changed. Null: never the same.
  fingerprint text,
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (leaf_id, day)
);
CREATE INDEX audience_leaf_days_by_project ON audience_leaf_days (project_id);
