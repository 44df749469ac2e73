-- Which of an organization's own events are about which topics.
CREATE TABLE intent_rules (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  -- [{ topic, host?, path?, title?, search? }]
  rules jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
