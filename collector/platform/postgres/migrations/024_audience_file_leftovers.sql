-- Files whose rows were deleted, with their audience, project or organization, and whose bytes are still stored.
CREATE TABLE audience_file_leftovers (file_id uuid PRIMARY KEY);

CREATE FUNCTION note_file_leftover() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audience_file_leftovers VALUES (OLD.file_id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER audience_file_deleted AFTER DELETE ON audience_files
  FOR EACH ROW WHEN (OLD.is_stored) EXECUTE FUNCTION note_file_leftover();
