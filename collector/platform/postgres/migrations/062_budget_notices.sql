-- Which thresholds of a budget were told of in which month: each once.
CREATE TABLE budget_notices (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- All zeros: the organization's own budget.
  project_id uuid NOT NULL,
  -- Its first day, UTC.
  month date NOT NULL,
  -- Per cent.
  threshold integer NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, project_id, month, threshold)
);
