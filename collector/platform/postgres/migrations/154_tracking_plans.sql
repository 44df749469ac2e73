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
