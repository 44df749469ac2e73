-- DSP campaigns. What they did is in ClickHouse: events whose source is svcdsp.
CREATE TABLE campaigns (
  campaign_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  status text NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'completed')),
  -- What the whole flight may cost; null: anything.
  budget numeric(18, 6) CHECK (budget >= 0),
  -- First and last day, UTC; without an end the campaign runs on.
  start_date date NOT NULL,
  end_date date CHECK (end_date >= start_date),
  -- Whom it is shown to.
  audience_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaigns_by_project ON campaigns (project_id, created_at DESC, campaign_id);
