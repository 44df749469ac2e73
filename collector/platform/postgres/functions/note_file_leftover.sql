-- Whoever deletes an audience, a project or an organization deletes its files' rows: their bytes are deleted by a job.
CREATE OR REPLACE FUNCTION note_file_leftover() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audience_file_leftovers VALUES (OLD.file_id) ON CONFLICT DO NOTHING;
  PERFORM pg_notify('footfall_jobs', 'audiences.files');
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER audience_file_deleted AFTER DELETE ON audience_files
  FOR EACH ROW WHEN (OLD.is_stored) EXECUTE FUNCTION note_file_leftover();
