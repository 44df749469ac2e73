-- What visitors of a project are to do: events that count as conversions.
CREATE TABLE analytics_goals (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  -- [{ name, filter }]
  goals jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
