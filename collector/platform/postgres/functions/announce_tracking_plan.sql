-- Every process that accepts beacons keeps the plans in memory; PostgreSQL announces each change to all of them.
CREATE OR REPLACE FUNCTION announce_tracking_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tracking_plans', coalesce(NEW.project_id, OLD.project_id)::text);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER tracking_plan_changed
  AFTER INSERT OR DELETE OR UPDATE ON tracking_plans
  FOR EACH ROW EXECUTE FUNCTION announce_tracking_plan();
