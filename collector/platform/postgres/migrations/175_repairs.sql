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
