-- Goals, saved items, alerts and share links of projects. The figures are in ClickHouse.

-- Events that count as conversions of a project.
CREATE TABLE analytics_goals (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  -- [{ name, filter }]
  goals jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Links that show the figures of a project, or of one of its pixels, to anybody who has the link.
CREATE TABLE share_links (
  share_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Null: all pixels of the project.
  pixel_id uuid REFERENCES pixels ON DELETE CASCADE,
  name text NOT NULL,
  secret_sha256 bytea NOT NULL UNIQUE,
  -- The name or e-mail address of the maker at the time of creation.
  created_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- To the minute.
  last_used_at timestamptz,
  -- The secret, sealed, so that admins can copy the link again. Null: created without FOOTFALL_SECRET_KEY.
  sealed_secret text,
  -- The filter of a segment at the time of creation: later changes of the segment show nobody more.
  filter text,
  segment_name text,
  has_goals boolean NOT NULL DEFAULT false,
  -- argon2id. Null: no password.
  password_hash text,
  -- The origins whose pages may show the link in a frame.
  embed_origins text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX share_links_of_project ON share_links (project_id);

-- Members who receive the figures of a project by e-mail, and the last period that was sent.
CREATE TABLE summary_subscriptions (
  -- Named by the link that ends the subscription. It stays the same when the member subscribes again.
  subscription_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  -- weekly or monthly. Null: ended.
  frequency text,
  -- Periods that ended before this time are not sent.
  since timestamptz NOT NULL DEFAULT now(),
  -- The first day of the last period that was sent, written before its mail is sent.
  told_period date,
  UNIQUE (project_id, member_id)
);
CREATE INDEX summary_subscriptions_of_member ON summary_subscriptions (member_id);

-- Segments, funnels and annotations that the people of a project share. `content` has the fields of the kind.
CREATE TABLE saved_items (
  item_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- segment, funnel or annotation
  kind text NOT NULL,
  content jsonb NOT NULL,
  -- The name or e-mail address of the maker at the time of creation.
  created_by text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX saved_items_of_project ON saved_items (project_id, kind);

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

-- Messages to chats that are still to be sent, of alerts and of rules about visits.
CREATE TABLE alert_chat_messages (
  message_id uuid PRIMARY KEY,
  alert_id uuid REFERENCES alerts ON DELETE CASCADE,
  visit_alert_id uuid REFERENCES visit_alerts ON DELETE CASCADE,
  title text NOT NULL,
  text text NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(alert_id, visit_alert_id) = 1)
);
CREATE INDEX alert_chat_messages_by_due ON alert_chat_messages (due_at);
CREATE INDEX alert_chat_messages_by_alert ON alert_chat_messages (alert_id);
CREATE INDEX alert_chat_messages_by_visit_alert ON alert_chat_messages (visit_alert_id);

-- What the job of hits has done (analytics/hits/hitsProgress.ts). Times of arrival, epoch milliseconds.
CREATE TABLE hits_progress (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  appended_ms bigint NOT NULL,
  appending_ms bigint,
  repaired_ms bigint NOT NULL,
  compared_ms bigint NOT NULL
);
