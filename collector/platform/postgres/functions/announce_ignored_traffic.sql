-- Every process that accepts beacons keeps these settings in memory; PostgreSQL announces each change to all of them.
CREATE OR REPLACE FUNCTION announce_ignored_traffic() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('ignored_traffic', coalesce(NEW.project_id, OLD.project_id)::text);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER ignored_traffic_changed
  AFTER INSERT OR DELETE OR UPDATE OF ignored_networks, ignored_hosts, ignored_paths ON projects
  FOR EACH ROW EXECUTE FUNCTION announce_ignored_traffic();
