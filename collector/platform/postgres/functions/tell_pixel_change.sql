-- Every process keeps the pixels in memory; a change is told to all of them at once.
CREATE OR REPLACE FUNCTION tell_pixel_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pixels', coalesce(NEW.pixel_id, OLD.pixel_id)::text);
  RETURN NULL;
END $$;
