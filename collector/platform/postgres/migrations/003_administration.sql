-- Who changes what: versions catch two people who edit at once.
ALTER TABLE organizations
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

ALTER TABLE members
  ADD COLUMN name text,
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
  -- Null until the invitation is accepted.
  ALTER COLUMN password_hash DROP NOT NULL,
  -- Tokens made before it are good no longer.
  ADD COLUMN password_changed_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN invitation_sha256 bytea UNIQUE,
  ADD COLUMN invitation_expires_at timestamptz;
CREATE INDEX members_by_organization ON members (organization_id);

ALTER TABLE projects
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

CREATE TABLE project_members (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, member_id)
);
CREATE INDEX project_members_by_member ON project_members (member_id);

ALTER TABLE pixels
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

ALTER TABLE api_keys
  ADD COLUMN created_by text,
  ADD COLUMN last_used_at timestamptz,
  -- Keys of before there were secrets; good only while their organization does not require one.
  ALTER COLUMN secret_sha256 DROP NOT NULL;
CREATE INDEX api_keys_by_organization ON api_keys (organization_id);

CREATE TABLE sessions (
  session_sha256 bytea PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_member ON sessions (member_id);

-- What the service made up for itself and all its processes share: the key of legacy tokens.
CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  value bytea NOT NULL
);

-- Outlives what it tells of.
CREATE TABLE audit_log (
  entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  -- { kind, id, name }
  actor jsonb NOT NULL,
  action text NOT NULL,
  object_kind text NOT NULL,
  object_id text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_by_organization ON audit_log (organization_id, entry_id DESC);

-- Events of deleted pixels and projects that are to go; the primary process carries it out.
CREATE TABLE event_deletions (
  deletion_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  -- Null: of the whole organization.
  project_id uuid,
  -- Null: of the whole project.
  pixel_id uuid,
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);

-- Rate limits by the generic cell rate algorithm. Unlogged: after a crash of PostgreSQL everyone starts afresh.
CREATE UNLOGGED TABLE rate_limits (
  bucket text PRIMARY KEY,
  -- Theoretical arrival time: when the bucket will be full again, in seconds of this server's clock.
  arrival double precision NOT NULL
) WITH (fillfactor = 50);

/*
 * Takes one token from each bucket, or from none. Bucket i gains a token every intervals[i] seconds and holds
 * bursts[i] at most. `refused` is 0 when all were taken, else the place of the bucket that was empty; `wait_seconds`
 * is how long until it has a token. `remaining` is what the last bucket still holds.
 */
CREATE FUNCTION take_tokens(buckets text[], intervals double precision[], bursts double precision[],
  OUT refused integer, OUT wait_seconds double precision, OUT remaining integer)
LANGUAGE plpgsql AS $$
DECLARE
  -- Read after the rows are locked: of two that wait for a bucket, the second must not see an older time.
  now_seconds double precision;
  arrivals double precision[] := '{}';
  arrival_then double precision;
BEGIN
  refused := 0;
  wait_seconds := 0;
  remaining := 0;
  -- The callers name buckets in one order, so no two of them wait for each other.
  FOR i IN 1 .. cardinality(buckets) LOOP
    LOOP
      SELECT arrival INTO arrival_then FROM rate_limits WHERE bucket = buckets[i] FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO rate_limits VALUES (buckets[i], 0) ON CONFLICT DO NOTHING;
    END LOOP;
    arrivals := arrivals || arrival_then;
  END LOOP;
  now_seconds := extract(epoch FROM clock_timestamp());
  FOR i IN 1 .. cardinality(buckets) LOOP
    arrivals[i] := greatest(arrivals[i], now_seconds) + intervals[i];
    IF arrivals[i] - now_seconds > intervals[i] * bursts[i] + 1e-6 THEN
      refused := i;
      wait_seconds := arrivals[i] - now_seconds - intervals[i] * bursts[i];
      RETURN;
    END IF;
    remaining := floor(bursts[i] - (arrivals[i] - now_seconds) / intervals[i] + 1e-6);
  END LOOP;
  FOR i IN 1 .. cardinality(buckets) LOOP
    UPDATE rate_limits SET arrival = arrivals[i] WHERE bucket = buckets[i];
  END LOOP;
END $$;
