-- The networks, hosts and paths whose events a project does not store (schemas/ignored.ts).
ALTER TABLE projects
  ADD COLUMN ignored_networks text[] NOT NULL DEFAULT '{}',
  ADD COLUMN ignored_hosts text[] NOT NULL DEFAULT '{}',
  ADD COLUMN ignored_paths text[] NOT NULL DEFAULT '{}';
CREATE INDEX projects_with_ignored_traffic ON projects (project_id)
  WHERE ignored_networks <> '{}' OR ignored_hosts <> '{}' OR ignored_paths <> '{}';

-- Every process that accepts beacons keeps these settings in memory; PostgreSQL announces each change to all of them.
CREATE FUNCTION announce_ignored_traffic() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('ignored_traffic', coalesce(NEW.project_id, OLD.project_id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER ignored_traffic_changed
  AFTER INSERT OR DELETE OR UPDATE OF ignored_networks, ignored_hosts, ignored_paths ON projects
  FOR EACH ROW EXECUTE FUNCTION announce_ignored_traffic();
