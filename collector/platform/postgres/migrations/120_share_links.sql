-- Links that show the figures of a project, or of one of its pixels, to whoever has them.
CREATE TABLE share_links (
  share_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Null: all of the project's.
  pixel_id uuid REFERENCES pixels ON DELETE CASCADE,
  name text NOT NULL,
  secret_sha256 bytea NOT NULL UNIQUE,
  -- The name or e-mail address of who made it, as it was then.
  created_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- To the minute.
  last_used_at timestamptz
);
CREATE INDEX share_links_of_project ON share_links (project_id);
