-- Segments, funnels and annotations that the people of a project share. `content` has the fields of the kind.
CREATE TABLE saved_items (
  item_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- segment, funnel or annotation
  kind text NOT NULL,
  content jsonb NOT NULL,
  -- The name or e-mail address of the maker at the time of creation.
  created_by text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX saved_items_of_project ON saved_items (project_id, kind);
