-- Conditions of a project's figures that people want to hear of.
CREATE TABLE alerts (
  alert_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  -- { "kind", "metric", "filter", "goal", "window", "direction", "value" } (analytics/alerts/condition.ts)
  condition jsonb NOT NULL,
  active boolean NOT NULL DEFAULT true,
  -- Who gets the mails.
  member_ids uuid[] NOT NULL DEFAULT '{}',
  -- Sealed for "alert:ALERT_ID". Null: nothing is posted to a chat.
  chat_url text,
  is_raised boolean NOT NULL DEFAULT false,
  -- When is_raised changed last, and the value then. Null: never.
  changed_at timestamptz,
  -- Of the last check. Null: not checked yet, or nothing to compare with.
  last_value double precision,
  last_checked_at timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX alerts_by_project ON alerts (project_id, created_at);

-- Messages to chats that are still to be sent.
CREATE TABLE alert_chat_messages (
  message_id uuid PRIMARY KEY,
  alert_id uuid NOT NULL REFERENCES alerts ON DELETE CASCADE,
  body text NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX alert_chat_messages_by_due ON alert_chat_messages (due_at);
CREATE INDEX alert_chat_messages_by_alert ON alert_chat_messages (alert_id);
