-- Who wants to be left alone: what they do is not taken in, and who they are is not shown. Reads look into
-- ClickHouse's table of the same name, which the primary process keeps like this one.
CREATE TABLE opt_outs (
  opt_out_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Null: everywhere, as whoever runs the service has noted it.
  organization_id uuid REFERENCES organizations ON DELETE CASCADE,
  -- A person or a browser: one of the two.
  hem text CHECK (hem ~ '^[0-9a-f]{64}$'),
  cookie_id uuid,
  -- Of a browser that is on the list because it is this person's.
  via_hem text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When they came back; the row goes as soon as ClickHouse knows.
  removed_at timestamptz,
  is_known_to_clickhouse boolean NOT NULL DEFAULT false,
  CHECK (num_nonnulls(hem, cookie_id) = 1)
);
CREATE UNIQUE INDEX opt_outs_subject ON opt_outs (organization_id, hem, cookie_id) NULLS NOT DISTINCT;
CREATE INDEX opt_outs_unknown ON opt_outs (opt_out_id) WHERE NOT is_known_to_clickhouse;

-- Every process that takes events in keeps the list in memory; a change is told to all of them at once.
CREATE FUNCTION tell_opt_out() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed opt_outs := coalesce(NEW, OLD);
BEGIN
  PERFORM pg_notify('opt_outs', json_build_object(
    'organization_id', changed.organization_id, 'hem', changed.hem, 'cookie_id', changed.cookie_id,
    'is_active', TG_OP <> 'DELETE' AND changed.removed_at IS NULL)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER opt_outs_changed AFTER INSERT OR UPDATE OF removed_at OR DELETE ON opt_outs
  FOR EACH ROW EXECUTE FUNCTION tell_opt_out();

-- People and browsers whose data is to go; the primary process carries it out.
CREATE TABLE erasures (
  erasure_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Null: everywhere, profiles included.
  organization_id uuid,
  -- Whom it is about, and the browsers found to be theirs; forgotten when it is finished.
  hem text,
  cookie_ids uuid[] NOT NULL DEFAULT '{}',
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX erasures_unfinished ON erasures (requested_at) WHERE finished_at IS NULL;
