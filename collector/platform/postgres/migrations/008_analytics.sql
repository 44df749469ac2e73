-- Goals of projects, and who receives their figures. The figures are in ClickHouse.

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
  last_used_at timestamptz
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
