-- Opt-outs, and the deletion of personal data and of events.

-- People and browsers that have opted out: the collector drops their events, and reads hide who they are. Reads use
-- ClickHouse's table of the same name, which the primary process keeps equal to this one.
CREATE TABLE opt_outs (
  opt_out_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Null: in all organizations, as recorded by the operator.
  organization_id uuid REFERENCES organizations ON DELETE CASCADE,
  -- A person or a browser: exactly one of the two.
  hem text CHECK (hem ~ '^[0-9a-f]{64}$'),
  cookie_id uuid,
  -- Of a browser that is listed because it belongs to this person.
  via_hem text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the opt-out began or ended last. ClickHouse keeps the newest change of each, in whatever order changes arrive.
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the opt-out ended. The row is deleted as soon as ClickHouse has the change.
  removed_at timestamptz,
  is_known_to_clickhouse boolean NOT NULL DEFAULT false,
  CHECK (num_nonnulls(hem, cookie_id) = 1)
);
CREATE UNIQUE INDEX opt_outs_subject ON opt_outs (organization_id, hem, cookie_id) NULLS NOT DISTINCT;
CREATE INDEX opt_outs_unknown ON opt_outs (opt_out_id) WHERE NOT is_known_to_clickhouse;

-- People and browsers whose data is to be deleted. The primary process deletes it.
CREATE TABLE erasures (
  erasure_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Null: in all organizations, profiles included.
  organization_id uuid,
  -- The person, and the browsers found to be theirs. Cleared when the erasure is finished.
  hem text,
  cookie_ids uuid[] NOT NULL DEFAULT '{}',
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  -- When the stores first held none of the data. From then on the erasure waits for data that was still in transit.
  emptied_at timestamptz
);
CREATE INDEX erasures_unfinished ON erasures (requested_at) WHERE finished_at IS NULL;

-- Deleted pixels and projects whose events are to be deleted. The primary process deletes them.
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

-- Requests to delete events by filter and window. They finish when no such event can arrive any more.
CREATE TABLE event_window_deletions (
  deletion_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  pixel_id uuid,
  start_ms bigint NOT NULL,
  end_ms bigint NOT NULL,
  -- Null: all events of the window.
  filter text,
  -- The number of events that the caller has seen and confirmed.
  events bigint NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX event_window_deletions_by_project ON event_window_deletions (project_id, requested_at);
CREATE INDEX event_window_deletions_waiting ON event_window_deletions (requested_at) WHERE finished_at IS NULL;

-- Requests to remove a wrong link between a browser and a person. Both ids are deleted at the end.
CREATE TABLE link_removals (
  removal_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  cookie_id uuid,
  hem text,
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX link_removals_by_organization ON link_removals (organization_id, requested_at, removal_id);
CREATE INDEX link_removals_waiting ON link_removals (requested_at) WHERE finished_at IS NULL;
