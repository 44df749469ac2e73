/* Keeps the project of each deleted pixel: its events may stay, on the shard of the pixel. */
CREATE OR REPLACE FUNCTION note_deleted_pixel() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_pixels VALUES (OLD.pixel_id, OLD.project_id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER note_deleted_pixel AFTER DELETE ON pixels
FOR EACH ROW EXECUTE FUNCTION note_deleted_pixel();
