-- What leaves the service: campaigns, exports to destinations, webhooks and mails.

-- Campaigns of a demand-side platform (DSP). Their results are in ClickHouse: events whose source is svcdsp.
CREATE TABLE campaigns (
  campaign_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  status text NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'completed')),
  -- The most that the whole flight may cost. Null: no limit.
  budget numeric(18, 6) CHECK (budget >= 0),
  -- First and last day, UTC. Null: no end.
  start_date date NOT NULL,
  end_date date CHECK (end_date >= start_date),
  -- The audience that sees the campaign.
  audience_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaigns_by_project ON campaigns (project_id, created_at DESC, campaign_id);

-- Destinations of audiences and lists.
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

-- Which records are sent to which destination.
CREATE TABLE exports (
  export_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  -- Exactly one of the two. References are checked at the end of the transaction, because the records of a project are
  -- deleted together.
  audience_id uuid REFERENCES audiences DEFERRABLE INITIALLY DEFERRED,
  list_id uuid REFERENCES lists DEFERRABLE INITIALLY DEFERRED,
  integration_id uuid NOT NULL REFERENCES integrations DEFERRABLE INITIALLY DEFERRED,
  output_format text NOT NULL CHECK (
    output_format IN ('csv', 'ndjson', 'parquet', 'hem', 'ip_address', 'company_domain', 'crm')),
  -- Field of the destination → field of Footfall, in the order of the keys. Null: the destination's default fields.
  mapping json,
  schedule text NOT NULL DEFAULT 'manual' CHECK (schedule IN ('manual', 'hourly', 'daily')),
  -- Most records that the scheduled runs charge on a UTC day, and the day of the last notice that it was reached.
  daily_records_max bigint NOT NULL DEFAULT 1000000 CHECK (daily_records_max >= 0),
  daily_max_noted_on date,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(audience_id, list_id) = 1)
);
CREATE INDEX exports_by_project ON exports (project_id, export_id);
CREATE INDEX exports_by_audience ON exports (audience_id);
CREATE INDEX exports_by_list ON exports (list_id);
CREATE INDEX exports_by_integration ON exports (integration_id);
CREATE INDEX exports_scheduled ON exports (export_id) WHERE schedule <> 'manual';

-- A run sends the records of one build in the order of their keys, chunk by chunk.
CREATE TABLE export_runs (
  run_id uuid PRIMARY KEY,
  export_id uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
  -- The run whose failed records this run sends. Null: all records of the build.
  retry_of uuid REFERENCES export_runs ON DELETE CASCADE,
  build_id uuid REFERENCES audience_builds ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  -- The export's values at the time of the request.
  output_format text NOT NULL,
  mapping json,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'parked', 'completed', 'failed')),
  records_exported bigint NOT NULL DEFAULT 0,
  records_failed bigint NOT NULL DEFAULT 0,
  records_duplicated bigint NOT NULL DEFAULT 0,
  records_total bigint NOT NULL
    GENERATED ALWAYS AS (records_exported + records_failed + records_duplicated) STORED,
  records_charged bigint NOT NULL DEFAULT 0,
  -- All records up to this key have an outcome.
  done_key bigint NOT NULL DEFAULT 0,
  -- How often the next chunk was tried, and what its destination needs to continue it.
  attempts integer NOT NULL DEFAULT 0,
  chunk_state jsonb,
  resumes_at timestamptz,
  -- Why the run stopped sending: the remaining records fail with this reason. And what would make them succeed.
  stop_reason text,
  stop_class text CHECK (stop_class IN ('retry', 'needs_action', 'never')),
  -- Who is charged: the key or member that requested the run, or the export itself.
  requested_by uuid NOT NULL,
  is_project_key boolean NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Whether the chunk after done_key, which is already charged, has reached its destination. It then stays charged
  -- even if the run stops.
  chunk_sent boolean NOT NULL DEFAULT false,
  -- Why a parked run waits: its `error` while it is parked.
  park_reason text,
  -- The API request that started the run.
  request_id uuid,
  -- From when answers show the counters: later than the request if the allowance of free answers was used up.
  numbers_from timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX export_runs_unfinished ON export_runs (export_id)
  WHERE status IN ('pending', 'running', 'parked');
CREATE INDEX export_runs_by_export ON export_runs (export_id, run_id);
CREATE INDEX export_runs_by_build ON export_runs (build_id);
CREATE INDEX export_runs_by_retried ON export_runs (retry_of);

-- The records of a run that were not exported, with the reason. All other records up to done_key were exported.
CREATE TABLE export_outcomes (
  run_id uuid NOT NULL REFERENCES export_runs ON DELETE CASCADE,
  key bigint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('failed', 'duplicated')),
  -- The hem, or the domain of the company. 'erased' after the person was erased.
  record text NOT NULL,
  reason text NOT NULL,
  -- Of failed records: they may succeed when retried, only after somebody corrects something, or never.
  class text CHECK (class IN ('retry', 'needs_action', 'never')),
  -- Whether the record was charged although it failed. A retry does not charge it again.
  is_charged boolean NOT NULL,
  PRIMARY KEY (run_id, key)
);
CREATE INDEX export_outcomes_by_record ON export_outcomes (record);

-- Hashes of the values by which the destination of an unfinished run distinguishes records.
CREATE TABLE export_identities (
  run_id uuid NOT NULL REFERENCES export_runs ON DELETE CASCADE,
  identity bytea NOT NULL,
  PRIMARY KEY (run_id, identity)
);

-- People who were sent to destinations that can remove people again: only their hem and their id at the destination.
CREATE TABLE export_recipients (
  integration_id uuid NOT NULL REFERENCES integrations ON DELETE CASCADE,
  hem bytea NOT NULL,
  remote_id text,
  sent_at timestamptz NOT NULL DEFAULT now(),
  -- How often removal was tried, and when it is tried next.
  attempts integer NOT NULL DEFAULT 0,
  remove_after timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (integration_id, hem)
);
CREATE INDEX export_recipients_by_hem ON export_recipients (hem);

-- Messages for webhooks, written in the transaction that causes them.
CREATE TABLE outbox_messages (
  message_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- Null: about the organization as a whole.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null: not yet dispatched to the webhooks that subscribe to it.
  dispatched_at timestamptz
);
CREATE INDEX outbox_messages_waiting ON outbox_messages (created_at) WHERE dispatched_at IS NULL;
CREATE INDEX outbox_messages_by_age ON outbox_messages (created_at);
CREATE INDEX outbox_messages_by_organization ON outbox_messages (organization_id);
CREATE INDEX outbox_messages_by_project ON outbox_messages (project_id);

-- Addresses of customers that receive messages.
CREATE TABLE webhooks (
  webhook_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- Null: of the whole organization.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  description text,
  url text NOT NULL,
  event_types text[] NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  -- Why and when the service disabled it.
  disabled_reason text CHECK (disabled_reason IN ('failing', 'gone')),
  disabled_at timestamptz,
  -- When the first try after the last success failed. Null while deliveries succeed.
  failing_since timestamptz,
  -- The secret that signs messages, encrypted under FOOTFALL_SECRET_KEY.
  sealed_secret text NOT NULL,
  -- The previous secret, which also signs until then.
  former_sealed_secret text,
  former_secret_until timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, webhook_id);
CREATE INDEX webhooks_by_project ON webhooks (project_id);

-- The delivery of one message to one webhook.
CREATE TABLE webhook_deliveries (
  delivery_id uuid PRIMARY KEY,
  webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  message_id uuid NOT NULL REFERENCES outbox_messages ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- The attempts since the first delivery or the last replay. They determine the delay before the next one.
  attempts_of_round integer NOT NULL DEFAULT 0,
  -- Null unless pending.
  next_attempt_at timestamptz DEFAULT now(),
  -- Until then a process holds the delivery.
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

-- Mails to send, one row for each recipient.
CREATE TABLE outbox_mails (
  mail_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the mail server last refused the mail. Mails that were never tried are sent first, so that refused ones, which
  -- are tried again for days, do not delay them.
  tried_at timestamptz
);

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
  -- Events that were received earlier are matched. Visits with a verified link (signed by the site, loaded, or of the
  -- operator's graph) and with an unsigned one, which anybody can forge, have positions and caps of their own.
  checked_until timestamptz NOT NULL DEFAULT now(),
  unverified_checked_until timestamptz NOT NULL DEFAULT now(),
  -- Most unverified visitors a day that are charged, and reported like verified ones.
  unverified_charges_max integer NOT NULL DEFAULT 0 CHECK (unverified_charges_max >= 0),
  -- Why nothing is sent now. It never depends on visits. Null: messages are sent.
  paused_by text CHECK (paused_by IN ('budget_exceeded', 'platform_cap_exceeded')),
  last_sent_at timestamptz,
  -- When the rule was last matched, or failed. A rule that takes long, or always fails, is then the last one of the next
  -- pass, even if it has not reached the present. Null: never.
  tried_at timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX visit_alerts_by_project ON visit_alerts (project_id, created_at);

-- The people whom a rule has reported or is reporting: each once on a UTC day by each kind of link. Deleted after seven
-- days.
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
  is_verified boolean NOT NULL DEFAULT true,
  -- Whether the match is charged and reported with identity data. False: as a claim, free and without such data.
  is_charged boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (visit_alert_id, person_key, day, is_verified)
);
CREATE INDEX visit_alert_matches_waiting ON visit_alert_matches (created_at) WHERE event_id IS NOT NULL;
CREATE INDEX visit_alert_matches_by_day ON visit_alert_matches (day);

-- Copies of a project's raw events in a customer's bucket, by the hour.
CREATE TABLE archives (
  archive_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  integration_id uuid NOT NULL REFERENCES integrations ON DELETE CASCADE,
  active boolean NOT NULL DEFAULT true,
  -- Most records that the archive charges on a UTC day: strangers send events, and it delivers them without being asked.
  daily_records_max bigint NOT NULL DEFAULT 10000000 CHECK (daily_records_max >= 0),
  -- The first hour.
  starts_at timestamptz NOT NULL,
  -- The hour that is archived next.
  next_hour timestamptz NOT NULL,
  -- Why the next hour waits, and the reason in words. Null: it does not wait.
  paused_by text
    CHECK (paused_by IN ('budget_exceeded', 'platform_cap_exceeded', 'destination', 'daily_records_max')),
  paused_reason text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Two archives would overwrite each other's files.
  UNIQUE (project_id, integration_id)
);
CREATE INDEX archives_by_integration ON archives (integration_id);

-- The files of archives. Each has the events of `hour` that arrived in the turn of `run_hour`.
CREATE TABLE archive_files (
  file_id uuid PRIMARY KEY,
  archive_id uuid NOT NULL REFERENCES archives ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  -- 1 for the first file of the hour; the further ones have late events.
  part integer NOT NULL,
  run_hour timestamptz NOT NULL,
  rows bigint NOT NULL,
  -- Null until the file is in the bucket.
  bytes bigint,
  sha256 text,
  stored_at timestamptz,
  UNIQUE (archive_id, hour, part),
  UNIQUE (archive_id, hour, run_hour)
);
