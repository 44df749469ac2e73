-- Rules that report when a person visits.
CREATE TABLE visit_alerts (
  visit_alert_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  -- { "kind", "hem" | "company_domain" | "filter" | "audience_id" } (activation/visitAlerts/visitAlertSchemas.ts)
  match jsonb NOT NULL,
  -- The tier of the message, which is charged on the meter of that tier.
  tier text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  -- Who gets the mails.
  member_ids uuid[] NOT NULL DEFAULT '{}',
  -- Sealed for "alert:VISIT_ALERT_ID". Null: nothing is posted to a chat.
  chat_url text,
  -- Events that were received earlier are matched.
  checked_until timestamptz NOT NULL DEFAULT now(),
  -- Why nothing is sent now. It never depends on visits. Null: messages are sent.
  paused_by text CHECK (paused_by IN ('budget_exceeded', 'platform_cap_exceeded')),
  last_sent_at timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX visit_alerts_by_project ON visit_alerts (project_id, created_at);

-- The people whom a rule has reported or is reporting: each once on a UTC day. Deleted after two days.
CREATE TABLE visit_alert_matches (
  -- Also the id of the message.
  match_id uuid PRIMARY KEY,
  visit_alert_id uuid NOT NULL REFERENCES visit_alerts ON DELETE CASCADE,
  -- A digest of the person, the project and the day.
  person_key uuid NOT NULL,
  day date NOT NULL,
  -- The first event that matched. Null after the message was written or dropped.
  event_id uuid,
  ts_millis bigint NOT NULL,
  leased_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (visit_alert_id, person_key, day)
);
CREATE INDEX visit_alert_matches_waiting ON visit_alert_matches (created_at) WHERE event_id IS NOT NULL;
CREATE INDEX visit_alert_matches_by_day ON visit_alert_matches (day);

-- Chats of both kinds of alerts.
ALTER TABLE alert_chat_messages ALTER COLUMN alert_id DROP NOT NULL,
  ADD COLUMN visit_alert_id uuid REFERENCES visit_alerts ON DELETE CASCADE,
  ADD CHECK (num_nonnulls(alert_id, visit_alert_id) = 1);
CREATE INDEX alert_chat_messages_by_visit_alert ON alert_chat_messages (visit_alert_id);
