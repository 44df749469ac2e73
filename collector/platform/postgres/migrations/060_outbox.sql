-- What happened that somebody outside wants to hear of, written in the transaction that made it so.
CREATE TABLE outbox_messages (
  message_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- Null: of the organization as a whole.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null: not yet given to the webhooks that want it.
  dispatched_at timestamptz
);
CREATE INDEX outbox_messages_waiting ON outbox_messages (created_at) WHERE dispatched_at IS NULL;
CREATE INDEX outbox_messages_by_age ON outbox_messages (created_at);
CREATE INDEX outbox_messages_by_organization ON outbox_messages (organization_id);
CREATE INDEX outbox_messages_by_project ON outbox_messages (project_id);
