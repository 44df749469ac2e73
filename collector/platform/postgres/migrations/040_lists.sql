-- Lists of people, companies or browsers that customers give. Their members are in ClickHouse (list_members).
CREATE TABLE lists (
  list_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('emails', 'hems', 'domains', 'cookies')),
  -- Members of all imports that are completed, each once, as of counted_at.
  count bigint NOT NULL DEFAULT 0,
  counted_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX lists_by_project ON lists (project_id, list_id);

CREATE TABLE list_imports (
  import_id uuid PRIMARY KEY,
  list_id uuid NOT NULL REFERENCES lists ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  -- How the uploaded file is read (lists/file/importFile.ts).
  file jsonb NOT NULL,
  -- How much of it is done: its bytes and lines, and its rows.
  bytes_done bigint NOT NULL,
  lines_done bigint NOT NULL,
  rows_done bigint NOT NULL DEFAULT 0,
  -- Of a completed one: the first is the sum of the others.
  rows_total bigint NOT NULL DEFAULT 0,
  rows_matched bigint NOT NULL DEFAULT 0,
  rows_unmatched bigint NOT NULL DEFAULT 0,
  rows_duplicate bigint NOT NULL DEFAULT 0,
  rows_rejected bigint NOT NULL DEFAULT 0,
  -- Why it failed, for people.
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CHECK (rows_total = rows_matched + rows_unmatched + rows_duplicate + rows_rejected)
);
CREATE INDEX list_imports_by_list ON list_imports (list_id, import_id);
CREATE INDEX list_imports_unfinished ON list_imports (import_id) WHERE status IN ('pending', 'processing');
CREATE INDEX list_imports_not_completed ON list_imports (list_id) WHERE status <> 'completed';

-- Which lists the definition of an audience names. They stay as long as it does.
CREATE TABLE audience_lists (
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  -- Looked at when all is done: a project's audiences and lists are deleted together.
  list_id uuid NOT NULL REFERENCES lists DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (audience_id, list_id)
);
CREATE INDEX audience_lists_by_list ON audience_lists (list_id);
