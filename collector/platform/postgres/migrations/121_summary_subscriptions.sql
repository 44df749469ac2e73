-- Who wants the figures of a project by e-mail, and up to which period they have them.
CREATE TABLE summary_subscriptions (
  -- What the link that ends it names; it stays the same when it is begun again.
  subscription_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  -- weekly or monthly; null: ended.
  frequency text,
  -- Periods that were over by then are not told.
  since timestamptz NOT NULL DEFAULT now(),
  -- The first day of the last period that was told, written before its mail is sent.
  told_period date,
  UNIQUE (project_id, member_id)
);
CREATE INDEX summary_subscriptions_of_member ON summary_subscriptions (member_id);
