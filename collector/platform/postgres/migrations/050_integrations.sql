-- Destinations that audiences and lists are sent to.
CREATE TABLE integrations (
  integration_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  type text NOT NULL
    CHECK (type IN ('hubspot', 'salesforce', 's3', 'webhook', 'the_trade_desk', 'meta_ads')),
  name text NOT NULL,
  settings jsonb NOT NULL,
  -- The JSON object of its secrets, encrypted under FOOTFALL_SECRET_KEY.
  sealed_secrets text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX integrations_by_project ON integrations (project_id, integration_id);
