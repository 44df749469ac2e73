-- Every process keeps the pixels in memory; PostgreSQL announces each change to all of them.
CREATE OR REPLACE FUNCTION tell_pixel_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pixels', coalesce(NEW.pixel_id, OLD.pixel_id)::text);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER pixels_changed AFTER INSERT OR UPDATE OR DELETE ON pixels
  FOR EACH ROW EXECUTE FUNCTION tell_pixel_change();
