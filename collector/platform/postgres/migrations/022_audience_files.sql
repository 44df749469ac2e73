-- When its files were charged: once, at the first that was ready.
ALTER TABLE audience_builds ADD COLUMN download_charged_at timestamptz;

-- The files that a build was written to, one row for each format and try.
CREATE TABLE audience_files (
  file_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  format text NOT NULL CHECK (format IN ('csv', 'ndjson', 'parquet')),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'unloading', 'ready', 'failed', 'expired')),
  -- Of each part: name, rows, bytes, sha256.
  parts jsonb NOT NULL DEFAULT '[]',
  -- Whom it holds: members of the build who were not hidden. Another value now says that somebody is hidden since.
  shown text,
  -- Since then nobody it holds was hidden.
  verified_at timestamptz,
  expires_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- False once its bytes were deleted.
  is_stored boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX audience_files_of_build ON audience_files (build_id, format)
  WHERE status IN ('pending', 'unloading', 'ready');
CREATE INDEX audience_files_stored ON audience_files (file_id) WHERE is_stored;
