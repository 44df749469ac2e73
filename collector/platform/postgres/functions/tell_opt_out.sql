-- Every process that receives events keeps the opt-outs in memory; PostgreSQL announces each change to all of
-- them.
CREATE OR REPLACE FUNCTION tell_opt_out() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed opt_outs := coalesce(NEW, OLD);
BEGIN
  PERFORM pg_notify('opt_outs', json_build_object(
    'organization_id', changed.organization_id, 'hem', changed.hem, 'cookie_id', changed.cookie_id,
    'is_active', TG_OP <> 'DELETE' AND changed.removed_at IS NULL)::text);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER opt_outs_changed AFTER INSERT OR UPDATE OF removed_at OR DELETE ON opt_outs
  FOR EACH ROW EXECUTE FUNCTION tell_opt_out();
