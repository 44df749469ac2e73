-- Records the files whose rows were deleted with an audience, a project or an organization. A job deletes the
-- files' bytes.
CREATE OR REPLACE FUNCTION note_file_leftover() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audience_file_leftovers VALUES (OLD.file_id) ON CONFLICT DO NOTHING;
  PERFORM pg_notify('footfall_jobs', 'audiences.files');
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER audience_file_deleted AFTER DELETE ON audience_files
  FOR EACH ROW WHEN (OLD.is_stored) EXECUTE FUNCTION note_file_leftover();
