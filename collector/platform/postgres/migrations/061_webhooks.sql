-- Where customers want to hear of events.
CREATE TABLE webhooks (
  webhook_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- Null: of the whole organization.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  description text,
  url text NOT NULL,
  event_types text[] NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  -- Why and when the service itself switched it off.
  disabled_reason text CHECK (disabled_reason IN ('failing', 'gone')),
  disabled_at timestamptz,
  -- When the first try failed after the last that did not; null while it works.
  failing_since timestamptz,
  -- See collector/platform/outbound/sealer.ts.
  sealed_secret text NOT NULL,
  former_sealed_secret text,
  former_secret_until timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, webhook_id);
CREATE INDEX webhooks_by_project ON webhooks (project_id);

-- One message of the outbox on its way to one webhook.
CREATE TABLE webhook_deliveries (
  delivery_id uuid PRIMARY KEY,
  webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  message_id uuid NOT NULL REFERENCES outbox_messages ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- Of them, since it was sent first or replayed last: they decide how long the next one waits.
  attempts_of_round integer NOT NULL DEFAULT 0,
  -- Null unless pending.
  next_attempt_at timestamptz DEFAULT now(),
  -- Until then a process is at it.
  leased_until timestamptz,
  last_attempt_at timestamptz,
  response_status integer,
  response_body text,
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_id, message_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_soonest ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, created_at, delivery_id);
CREATE INDEX webhook_deliveries_by_message ON webhook_deliveries (message_id);

-- Mails that are to go, one for each of whom they are to.
CREATE TABLE outbox_mails (
  mail_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
