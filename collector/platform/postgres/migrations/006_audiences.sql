-- Lists, audiences, their builds and files, and what was charged for the records of builds. The members of lists and
-- builds are in ClickHouse (list_members, audience_members).

-- Lists of people, companies or browsers that customers upload.
CREATE TABLE lists (
  list_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('emails', 'hems', 'domains', 'cookies')),
  -- Distinct members of all completed imports, as of counted_at.
  count bigint NOT NULL DEFAULT 0,
  counted_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Increases whenever the list's members change.
  members_version bigint NOT NULL DEFAULT 0
);
CREATE INDEX lists_by_project ON lists (project_id, list_id);

CREATE TABLE list_imports (
  import_id uuid PRIMARY KEY,
  list_id uuid NOT NULL REFERENCES lists ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  -- How the uploaded file is read: its encoding, format and columns.
  file jsonb NOT NULL,
  -- The progress: bytes and lines of the file, and rows.
  bytes_done bigint NOT NULL,
  lines_done bigint NOT NULL,
  rows_done bigint NOT NULL DEFAULT 0,
  -- Of a completed import: the sum of added, duplicate and rejected rows.
  rows_total bigint NOT NULL DEFAULT 0,
  rows_duplicate bigint NOT NULL DEFAULT 0,
  rows_rejected bigint NOT NULL DEFAULT 0,
  -- The reason of a failure, for people.
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  -- The collector that has the upload on its disk, and so is the only one that can import it. Null: any collector.
  collector_id uuid,
  -- How many members the import added, and how many of these a lookup returns.
  rows_added bigint NOT NULL DEFAULT 0,
  rows_matched bigint NOT NULL DEFAULT 0,
  -- From when answers show rows_matched: later than the end of the import if the allowance of free answers was used up.
  numbers_from timestamptz NOT NULL DEFAULT now(),
  CHECK (rows_total = rows_added + rows_duplicate + rows_rejected)
);
CREATE INDEX list_imports_by_list ON list_imports (list_id, import_id);
CREATE INDEX list_imports_unfinished ON list_imports (import_id) WHERE status IN ('pending', 'processing');
CREATE INDEX list_imports_not_completed ON list_imports (list_id) WHERE status <> 'completed';

-- People or companies that match a definition. An audience is built from time to time.
CREATE TABLE audiences (
  audience_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  entity text NOT NULL CHECK (entity IN ('people', 'companies')),
  definition jsonb NOT NULL,
  intent_window_days integer NOT NULL CHECK (intent_window_days BETWEEN 1 AND 365),
  refresh text NOT NULL DEFAULT 'manual' CHECK (refresh IN ('manual', 'hourly', 'daily')),
  -- The build that reads return. Null until the first build is completed.
  current_build_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Of an audience that holds the members of a list: it is built for exports of the list, and no route shows it.
  list_id uuid UNIQUE REFERENCES lists ON DELETE CASCADE,
  -- The newest build has this members_version of the list, or a later one.
  list_version bigint
);
CREATE INDEX audiences_by_project ON audiences (project_id, created_at, audience_id);

-- Which audiences a definition names. A named audience cannot be deleted.
CREATE TABLE audience_uses (
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  -- Checked at the end of the transaction: the audiences of a project are deleted together.
  used_id uuid NOT NULL REFERENCES audiences (audience_id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (audience_id, used_id)
);
CREATE INDEX audience_uses_by_used ON audience_uses (used_id);

-- Which lists a definition names. A named list cannot be deleted.
CREATE TABLE audience_lists (
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  -- Checked at the end of the transaction: the audiences and lists of a project are deleted together.
  list_id uuid NOT NULL REFERENCES lists DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (audience_id, list_id)
);
CREATE INDEX audience_lists_by_list ON audience_lists (list_id);

CREATE TABLE audience_builds (
  build_id uuid PRIMARY KEY,
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  -- In the order of the requests. A build never replaces one with a higher number.
  number bigint GENERATED ALWAYS AS IDENTITY,
  -- The definition at the time of the request.
  definition jsonb NOT NULL,
  intent_window_days integer NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'unloading', 'completed', 'failed')),
  -- From 0 to 1.
  progress real NOT NULL DEFAULT 0,
  -- The reason of a failure, for people.
  error text,
  -- When the build began: it includes events up to this time.
  as_of timestamptz,
  -- Members when it completed, whose keys are 1 to this. Answers count those who may be shown now.
  count bigint,
  requested_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  -- False once its members were deleted.
  members_kept boolean NOT NULL DEFAULT true,
  -- When its files were charged: once, with the first file that was ready.
  download_charged_at timestamptz,
  -- What a completed build was made from. The next build looks only at people for whom something has changed since.
  -- Null: unknown.
  inputs jsonb,
  -- Whether intent decides who is in the build. It selects the meter.
  is_predictive boolean NOT NULL DEFAULT false,
  -- A build that a run still sends keeps its members until then, although reads no longer return it.
  members_kept_until timestamptz,
  -- From when answers show the numbers of its members: midnight UTC if the allowance of free answers was used up,
  -- unless the build is read before.
  numbers_from timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audience_builds_by_audience ON audience_builds (audience_id, number DESC);
CREATE INDEX audience_builds_waiting ON audience_builds (number) WHERE status IN ('pending', 'unloading');
-- Added here because audiences and audience_builds reference each other.
ALTER TABLE audiences ADD FOREIGN KEY (current_build_id) REFERENCES audience_builds (build_id) ON DELETE SET NULL;

-- The days for which ClickHouse's table of this name has counts of the events that match a leaf. Equal leaves of a
-- project's audiences share one leaf_id.
CREATE TABLE audience_leaf_days (
  leaf_id uuid NOT NULL,
  day date NOT NULL,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- The run whose rows are valid. Null: the day has no event.
  run_id uuid,
  -- Of the day's events when they were counted: another fingerprint means that they have changed. Null: counts are
  -- never reused.
  fingerprint text,
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (leaf_id, day)
);
CREATE INDEX audience_leaf_days_by_project ON audience_leaf_days (project_id);

-- The files of a build, one row for each format and try.
CREATE TABLE audience_files (
  file_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  format text NOT NULL CHECK (format IN ('csv', 'csv_unescaped', 'ndjson', 'parquet')),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'unloading', 'ready', 'failed', 'expired')),
  -- Of each part: name, rows, bytes, sha256.
  parts jsonb NOT NULL DEFAULT '[]',
  -- Identifies the people in the file: members of the build who were not hidden. Another value now means that somebody
  -- was hidden since.
  shown text,
  -- When the service last found that nobody in the file is hidden.
  verified_at timestamptz,
  expires_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- False once its bytes were deleted.
  is_stored boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX audience_files_of_build ON audience_files (build_id, format)
  WHERE status IN ('pending', 'unloading', 'ready');
CREATE INDEX audience_files_stored ON audience_files (file_id) WHERE is_stored;

-- Files whose rows were deleted with their audience, project or organization, and whose bytes are still stored. A
-- trigger inserts them (../functions/note_file_leftover.sql).
CREATE TABLE audience_file_leftovers (file_id uuid PRIMARY KEY);

-- Charged records of builds, each on the meter of its build. A record is charged once a UTC day and meter, whichever
-- build of its audience returns it.
CREATE TABLE build_charges (
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  -- UTC. Infinity: a download, which is charged once.
  day date NOT NULL,
  -- The keys whose records are free now. A gap between the keys of two members belongs to them, so pages become one
  -- range.
  keys int8multirange NOT NULL,
  -- How many of these records were charged.
  records bigint NOT NULL,
  audience_id uuid NOT NULL,
  -- The keys charged on this day, by pages and by downloads. `keys` also has those that were returned free of charge.
  paid int8multirange NOT NULL DEFAULT '{}',
  PRIMARY KEY (build_id, day)
);
CREATE INDEX build_charges_by_audience ON build_charges (audience_id, day);

-- Answers that returned records of builds. One that breaks off is refunded, except for records that another answer
-- returned.
CREATE TABLE build_reads (
  request_id uuid PRIMARY KEY,
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  read_at timestamptz NOT NULL,
  -- sha256 of the request and its Idempotency-Key: the same request is free for 24 hours, also after the day has ended.
  idempotency bytea,
  keys int8multirange NOT NULL,
  -- The keys among them that were charged and not refunded.
  paid int8multirange NOT NULL,
  is_broken boolean NOT NULL DEFAULT false
);
CREATE INDEX build_reads_by_build ON build_reads (build_id, day);
CREATE INDEX build_reads_by_idempotency ON build_reads (build_id, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX build_reads_by_age ON build_reads (read_at);

-- Members of a build whom another build of the audience was charged for on that day: they are free in this build too.
CREATE TABLE build_carries (
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  from_build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  -- The keys of the other build whose people were looked up.
  from_keys int8multirange NOT NULL,
  -- The keys of the same people in this build.
  keys int8multirange NOT NULL,
  PRIMARY KEY (build_id, day, from_build_id)
);
CREATE INDEX build_carries_by_source ON build_carries (from_build_id, day);

-- Which of an organization's own events are about which topics.
CREATE TABLE intent_rules (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  -- [{ topic, host?, path?, title?, search? }]
  rules jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
