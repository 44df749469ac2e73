-- What is sent where, and each time that it was.
CREATE TABLE exports (
  export_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  -- One of the two. Looked at when all is done: what belongs to a project is deleted together.
  audience_id uuid REFERENCES audiences DEFERRABLE INITIALLY DEFERRED,
  list_id uuid REFERENCES lists DEFERRABLE INITIALLY DEFERRED,
  integration_id uuid NOT NULL REFERENCES integrations DEFERRABLE INITIALLY DEFERRED,
  output_format text NOT NULL CHECK (
    output_format IN ('csv', 'ndjson', 'parquet', 'hem', 'ip_address', 'company_domain', 'crm')),
  -- Field of the destination → field of ours; null: the destination's usual ones. In the order of its keys.
  mapping json,
  schedule text NOT NULL DEFAULT 'manual' CHECK (schedule IN ('manual', 'hourly', 'daily')),
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
  -- Of which run it sends the records that failed; null: all of the build.
  retry_of uuid REFERENCES export_runs ON DELETE CASCADE,
  build_id uuid REFERENCES audience_builds ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  -- As they were when it was asked for.
  output_format text NOT NULL,
  mapping json,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'parked', 'completed', 'failed')),
  -- How many records there are to send.
  records_expected bigint NOT NULL,
  records_exported bigint NOT NULL DEFAULT 0,
  records_failed bigint NOT NULL DEFAULT 0,
  records_duplicated bigint NOT NULL DEFAULT 0,
  records_total bigint NOT NULL
    GENERATED ALWAYS AS (records_exported + records_failed + records_duplicated) STORED,
  records_charged bigint NOT NULL DEFAULT 0,
  -- All records up to this key have an outcome.
  done_key bigint NOT NULL DEFAULT 0,
  -- How often the chunk after it was tried, and what its destination has to know to go on with it.
  attempts integer NOT NULL DEFAULT 0,
  chunk_state jsonb,
  resumes_at timestamptz,
  -- Why nothing more is sent: the records that are left fail with it. And what would make them succeed.
  stop_reason text,
  stop_class text CHECK (stop_class IN ('retry', 'mend', 'never')),
  -- Who is charged: the key or member that asked, or the export itself.
  requested_by uuid NOT NULL,
  is_project_key boolean NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX export_runs_unfinished ON export_runs (export_id)
  WHERE status IN ('pending', 'running', 'parked');
CREATE INDEX export_runs_by_export ON export_runs (export_id, run_id);
CREATE INDEX export_runs_by_build ON export_runs (build_id);
CREATE INDEX export_runs_by_retried ON export_runs (retry_of);

-- The records of a run that were not exported, and why. All others up to its done_key were.
CREATE TABLE export_outcomes (
  run_id uuid NOT NULL REFERENCES export_runs ON DELETE CASCADE,
  key bigint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('failed', 'duplicated')),
  -- The hem, or the company's domain; 'erased' of who was.
  record text NOT NULL,
  reason text NOT NULL,
  -- Of failed ones: whether it may succeed when it is tried again, when something is mended first, or never.
  class text CHECK (class IN ('retry', 'mend', 'never')),
  -- Whether it was charged all the same: it is not charged again when it is retried.
  is_charged boolean NOT NULL,
  PRIMARY KEY (run_id, key)
);

CREATE INDEX export_outcomes_by_record ON export_outcomes (record);

-- By what a destination tells records apart, of a run that is under way: hashed.
CREATE TABLE export_identities (
  run_id uuid NOT NULL REFERENCES export_runs ON DELETE CASCADE,
  identity bytea NOT NULL,
  PRIMARY KEY (run_id, identity)
);

-- Who was sent to destinations that can remove people again: nothing of them but the hem, and the id they have there.
CREATE TABLE export_recipients (
  integration_id uuid NOT NULL REFERENCES integrations ON DELETE CASCADE,
  hem bytea NOT NULL,
  remote_id text,
  sent_at timestamptz NOT NULL DEFAULT now(),
  -- Removal was tried so often, and is tried again then.
  attempts integer NOT NULL DEFAULT 0,
  remove_after timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (integration_id, hem)
);
CREATE INDEX export_recipients_by_hem ON export_recipients (hem);

-- Builds that are still sent from keep their members until then, though they are served no more.
ALTER TABLE audience_builds ADD COLUMN members_kept_until timestamptz;
