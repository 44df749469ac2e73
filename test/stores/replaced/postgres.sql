-- 001_accounts.sql
CREATE TABLE organizations (
  organization_id uuid PRIMARY KEY,
  name text NOT NULL,
  secret_required boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  email text NOT NULL UNIQUE,
  password_hash text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE projects (
  project_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX projects_by_organization ON projects (organization_id);
CREATE TABLE pixels (
  pixel_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  allowed_origins text[] NOT NULL DEFAULT '{}',
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pixels_by_project ON pixels (project_id);
CREATE TABLE api_keys (
  key_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  name text NOT NULL,
  key_prefix text NOT NULL,
  key_sha256 bytea NOT NULL UNIQUE,
  secret_sha256 bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
CREATE FUNCTION tell_pixel_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pixels', coalesce(NEW.pixel_id, OLD.pixel_id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER pixels_changed AFTER INSERT OR UPDATE OR DELETE ON pixels
  FOR EACH ROW EXECUTE FUNCTION tell_pixel_change();
-- 002_daily_salts.sql
CREATE TABLE daily_salts (
  day date PRIMARY KEY,
  salt text NOT NULL
);
-- 003_administration.sql
ALTER TABLE organizations
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE members
  ADD COLUMN name text,
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
  ALTER COLUMN password_hash DROP NOT NULL,
  ADD COLUMN password_changed_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN invitation_sha256 bytea UNIQUE,
  ADD COLUMN invitation_expires_at timestamptz;
CREATE INDEX members_by_organization ON members (organization_id);
ALTER TABLE projects
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
CREATE TABLE project_members (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, member_id)
);
CREATE INDEX project_members_by_member ON project_members (member_id);
ALTER TABLE pixels
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE api_keys
  ADD COLUMN created_by text,
  ADD COLUMN last_used_at timestamptz,
  ALTER COLUMN secret_sha256 DROP NOT NULL;
CREATE INDEX api_keys_by_organization ON api_keys (organization_id);
CREATE TABLE sessions (
  session_sha256 bytea PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_member ON sessions (member_id);
CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  value bytea NOT NULL
);
CREATE TABLE audit_log (
  entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  actor jsonb NOT NULL,
  action text NOT NULL,
  object_kind text NOT NULL,
  object_id text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_by_organization ON audit_log (organization_id, entry_id DESC);
CREATE TABLE event_deletions (
  deletion_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  project_id uuid,
  pixel_id uuid,
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE UNLOGGED TABLE rate_limits (
  bucket text PRIMARY KEY,
  arrival double precision NOT NULL
) WITH (fillfactor = 50);
CREATE FUNCTION take_tokens(buckets text[], intervals double precision[], bursts double precision[],
  OUT refused integer, OUT wait_seconds double precision, OUT remaining integer)
LANGUAGE plpgsql AS $$
DECLARE
  now_seconds double precision;
  arrivals double precision[] := '{}';
  arrival_then double precision;
BEGIN
  refused := 0;
  wait_seconds := 0;
  remaining := 0;
  FOR i IN 1 .. cardinality(buckets) LOOP
    LOOP
      SELECT arrival INTO arrival_then FROM rate_limits WHERE bucket = buckets[i] FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO rate_limits VALUES (buckets[i], 0) ON CONFLICT DO NOTHING;
    END LOOP;
    arrivals := arrivals || arrival_then;
  END LOOP;
  now_seconds := extract(epoch FROM clock_timestamp());
  FOR i IN 1 .. cardinality(buckets) LOOP
    arrivals[i] := greatest(arrivals[i], now_seconds) + intervals[i];
    IF arrivals[i] - now_seconds > intervals[i] * bursts[i] + 1e-6 THEN
      refused := i;
      wait_seconds := arrivals[i] - now_seconds - intervals[i] * bursts[i];
      RETURN;
    END IF;
    remaining := floor(bursts[i] - (arrivals[i] - now_seconds) / intervals[i] + 1e-6);
  END LOOP;
  FOR i IN 1 .. cardinality(buckets) LOOP
    UPDATE rate_limits SET arrival = arrivals[i] WHERE bucket = buckets[i];
  END LOOP;
END $$;
-- 005_billing.sql
CREATE TABLE billing_accounts (
  organization_id uuid PRIMARY KEY,
  shut_off_at timestamptz,
  monthly_micros bigint CHECK (monthly_micros >= 0),
  stripe_customer_id text
);
CREATE TABLE project_budgets (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  monthly_micros bigint NOT NULL CHECK (monthly_micros >= 0)
);
CREATE TABLE usage_limits (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  meter text NOT NULL,
  daily_records bigint CHECK (daily_records >= 0),
  monthly_records bigint CHECK (monthly_records >= 0),
  PRIMARY KEY (organization_id, meter)
);
CREATE TABLE meter_prices (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  meter text NOT NULL,
  micros_per_thousand bigint NOT NULL CHECK (micros_per_thousand >= 0 AND micros_per_thousand % 1000 = 0),
  free_records_per_month bigint NOT NULL CHECK (free_records_per_month >= 0),
  PRIMARY KEY (organization_id, meter)
);
CREATE TABLE ledger (
  request_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('charge', 'refund')),
  organization_id uuid NOT NULL,
  project_id uuid,
  caller_id uuid NOT NULL,
  meter text NOT NULL,
  records bigint NOT NULL,
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  day date NOT NULL,
  at timestamptz NOT NULL,
  idempotency bytea,
  PRIMARY KEY (request_id, kind)
);
CREATE TABLE usage_totals (
  organization_id uuid NOT NULL,
  project_id uuid NOT NULL,
  period text NOT NULL CHECK (period IN ('day', 'month')),
  starts date NOT NULL,
  meter text NOT NULL,
  records bigint NOT NULL,
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (organization_id, project_id, period, starts, meter)
) WITH (fillfactor = 50);
CREATE TABLE idempotent_charges (
  organization_id uuid NOT NULL,
  idempotency bytea NOT NULL,
  request_id uuid NOT NULL,
  records bigint NOT NULL,
  charged_at timestamptz NOT NULL,
  holders uuid[] NOT NULL,
  PRIMARY KEY (organization_id, idempotency, request_id)
);
CREATE INDEX idempotent_charges_by_age ON idempotent_charges (charged_at);
CREATE TABLE reported_usage (
  organization_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  records bigint NOT NULL,
  PRIMARY KEY (organization_id, meter, month)
);
CREATE TABLE usage_reports (
  report_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  records bigint NOT NULL CHECK (records > 0),
  used_at timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL,
  unsure_since timestamptz,
  last_error text,
  sent_at timestamptz
);
CREATE INDEX usage_reports_to_send ON usage_reports (next_try_at) WHERE sent_at IS NULL;
CREATE FUNCTION consider_usage(organization uuid, project uuid, is_project_key boolean, wanted_meter text,
  wanted bigint, at timestamptz, default_micros_per_thousand bigint, default_free_records bigint,
  OUT free bigint, OUT amount bigint, OUT refusal jsonb)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  whole CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  today CONSTANT date := (at AT TIME ZONE 'UTC')::date;
  this_month CONSTANT date := date_trunc('month', at AT TIME ZONE 'UTC')::date;
  account billing_accounts;
  price meter_prices;
  most usage_limits;
  used_today bigint;
  used_this_month bigint;
  used_free bigint;
  spent bigint;
  budget bigint;
BEGIN
  SELECT * INTO account FROM billing_accounts WHERE organization_id = organization;
  SELECT * INTO price FROM meter_prices WHERE organization_id = organization AND meter = wanted_meter;
  SELECT * INTO most FROM usage_limits WHERE organization_id = organization AND meter = wanted_meter;
  SELECT coalesce(sum(records) FILTER (WHERE period = 'day'), 0),
         coalesce(sum(records) FILTER (WHERE period = 'month' AND meter = wanted_meter), 0),
         coalesce(sum(free_records) FILTER (WHERE period = 'month' AND meter = wanted_meter), 0),
         coalesce(sum(amount_micros) FILTER (WHERE period = 'month'), 0)
    INTO used_today, used_this_month, used_free, spent
    FROM usage_totals
    WHERE organization_id = organization AND project_id = whole
      AND (period = 'month' AND starts = this_month
        OR period = 'day' AND starts = today AND meter = wanted_meter);
  free := least(wanted, greatest(0, coalesce(price.free_records_per_month, default_free_records) - used_free));
  amount := (wanted - free) * coalesce(price.micros_per_thousand, default_micros_per_thousand) / 1000;
  IF account.shut_off_at IS NOT NULL THEN
    refusal := jsonb_build_object('kind', 'shut_off');
    RETURN;
  END IF;
  IF amount > 0 AND spent + amount > account.monthly_micros THEN
    refusal := jsonb_build_object('kind', 'budget', 'of', 'organization',
      'monthly_micros', account.monthly_micros, 'spent_micros', spent);
    RETURN;
  END IF;
  IF is_project_key AND amount > 0 THEN
    SELECT monthly_micros INTO budget FROM project_budgets WHERE project_id = project;
    SELECT coalesce(sum(amount_micros), 0) INTO spent FROM usage_totals
      WHERE organization_id = organization AND project_id = project AND period = 'month' AND starts = this_month;
    IF spent + amount > budget THEN
      refusal := jsonb_build_object('kind', 'budget', 'of', 'project',
        'monthly_micros', budget, 'spent_micros', spent);
      RETURN;
    END IF;
  END IF;
  refusal := CASE
    WHEN wanted > most.monthly_records THEN jsonb_build_object('kind', 'request_too_large', 'period', 'month',
      'limit', most.monthly_records, 'used', used_this_month)
    WHEN wanted > most.daily_records THEN jsonb_build_object('kind', 'request_too_large', 'period', 'day',
      'limit', most.daily_records, 'used', used_today)
    WHEN used_this_month + wanted > most.monthly_records THEN jsonb_build_object('kind', 'limit_reached',
      'period', 'month', 'limit', most.monthly_records, 'used', used_this_month)
    WHEN used_today + wanted > most.daily_records THEN jsonb_build_object('kind', 'limit_reached',
      'period', 'day', 'limit', most.daily_records, 'used', used_today)
  END;
END $$;
CREATE FUNCTION write_to_ledger(entry ledger) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger SELECT entry.*;
  INSERT INTO usage_totals AS totals
    SELECT entry.organization_id, owner, period, date_trunc(period, entry.day::timestamp)::date, entry.meter,
      entry.records, entry.free_records, entry.amount_micros
    FROM unnest(ARRAY['00000000-0000-0000-0000-000000000000', entry.project_id]::uuid[]) AS owner,
      unnest(ARRAY['day', 'month']) AS period
    WHERE owner IS NOT NULL
  ON CONFLICT (organization_id, project_id, period, starts, meter) DO UPDATE SET
    records = totals.records + excluded.records,
    free_records = totals.free_records + excluded.free_records,
    amount_micros = totals.amount_micros + excluded.amount_micros;
END $$;
CREATE FUNCTION charge_responses(charges jsonb)
RETURNS TABLE (charged_request_id uuid, charged_records bigint, refusal jsonb)
LANGUAGE plpgsql AS $$
DECLARE
  organization uuid;
  charge record;
  known bigint;
  paid bigint;
  considered record;
BEGIN
  FOR organization IN
    SELECT DISTINCT (value ->> 'organization_id')::uuid AS id FROM jsonb_array_elements(charges) ORDER BY id
  LOOP
    LOOP
      PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO billing_accounts (organization_id) VALUES (organization) ON CONFLICT DO NOTHING;
    END LOOP;
  END LOOP;
  FOR charge IN SELECT * FROM jsonb_to_recordset(charges) AS given (request_id uuid, organization_id uuid,
    project_id uuid, is_project_key boolean, caller_id uuid, meter text, records bigint, at timestamptz,
    idempotency bytea, micros_per_thousand bigint, free_records bigint)
  LOOP
    charged_request_id := charge.request_id;
    charged_records := 0;
    refusal := NULL;
    SELECT records INTO known FROM ledger WHERE request_id = charge.request_id AND kind = 'charge';
    IF FOUND THEN
      charged_records := known;
      RETURN NEXT;
      CONTINUE;
    END IF;
    paid := 0;
    IF charge.idempotency IS NOT NULL THEN
      WITH held AS (
        UPDATE idempotent_charges SET holders =
          CASE WHEN cardinality(holders) < 100 THEN holders || charge.request_id ELSE holders END
        WHERE organization_id = charge.organization_id AND idempotency = charge.idempotency
          AND charged_at > charge.at - interval '24 hours'
        RETURNING records
      )
      SELECT coalesce(sum(records), 0) INTO paid FROM held;
    END IF;
    charged_records := greatest(0, charge.records - paid);
    IF charged_records > 0 THEN
      SELECT * INTO considered FROM consider_usage(charge.organization_id, charge.project_id,
        charge.is_project_key, charge.meter, charged_records, charge.at, charge.micros_per_thousand,
        charge.free_records);
      refusal := considered.refusal;
      IF refusal IS NULL THEN
        PERFORM write_to_ledger(ROW(charge.request_id, 'charge', charge.organization_id, charge.project_id,
          charge.caller_id, charge.meter, charged_records, considered.free, considered.amount,
          (charge.at AT TIME ZONE 'UTC')::date, charge.at, charge.idempotency)::ledger);
        IF charge.idempotency IS NOT NULL THEN
          INSERT INTO idempotent_charges VALUES (charge.organization_id, charge.idempotency, charge.request_id,
            charged_records, charge.at, ARRAY[charge.request_id]);
        END IF;
      ELSE
        charged_records := 0;
        UPDATE idempotent_charges SET holders = array_remove(holders, charge.request_id)
          WHERE organization_id = charge.organization_id AND idempotency = charge.idempotency;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE FUNCTION refund_response(organization uuid, broken_request_id uuid, broken_idempotency bytea,
  refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  entry ledger;
BEGIN
  PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
  UPDATE idempotent_charges SET holders = array_remove(holders, broken_request_id)
    WHERE organization_id = organization AND idempotency = broken_idempotency;
  FOR entry IN
    WITH unused AS (
      DELETE FROM idempotent_charges
      WHERE organization_id = organization AND idempotency = broken_idempotency AND holders = '{}'
      RETURNING request_id
    )
    SELECT * FROM ledger AS charged WHERE kind = 'charge'
      AND (request_id IN (SELECT request_id FROM unused)
        OR request_id = broken_request_id AND broken_idempotency IS NULL)
      AND NOT EXISTS (SELECT FROM ledger WHERE request_id = charged.request_id AND kind = 'refund')
  LOOP
    PERFORM write_to_ledger(ROW(entry.request_id, 'refund', entry.organization_id, entry.project_id,
      entry.caller_id, entry.meter, -entry.records, -entry.free_records, -entry.amount_micros, entry.day,
      refunded_at, entry.idempotency)::ledger);
  END LOOP;
END $$;
CREATE VIEW ledger_differences AS
  WITH entries AS (
    SELECT organization_id, owner AS project_id, period, date_trunc(period, day::timestamp)::date AS starts, meter,
      sum(records) AS records, sum(free_records) AS free_records, sum(amount_micros) AS amount_micros
    FROM ledger,
      unnest(ARRAY['00000000-0000-0000-0000-000000000000', ledger.project_id]::uuid[]) AS owner,
      unnest(ARRAY['day', 'month']) AS period
    WHERE owner IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5
  )
  SELECT organization_id, project_id, period, starts, meter, entries.records AS ledger_records,
    usage_totals.records AS total_records, entries.amount_micros AS ledger_micros,
    usage_totals.amount_micros AS total_micros
  FROM entries FULL JOIN usage_totals USING (organization_id, project_id, period, starts, meter)
  WHERE (entries.records, entries.free_records, entries.amount_micros)
    IS DISTINCT FROM (usage_totals.records, usage_totals.free_records, usage_totals.amount_micros);
-- 006_campaigns.sql
CREATE TABLE campaigns (
  campaign_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  status text NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'completed')),
  budget numeric(18, 6) CHECK (budget >= 0),
  start_date date NOT NULL,
  end_date date CHECK (end_date >= start_date),
  audience_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaigns_by_project ON campaigns (project_id, created_at DESC, campaign_id);
-- 007_pixel_scripts.sql
CREATE TABLE pixel_scripts (
  pixel_id uuid NOT NULL REFERENCES pixels ON DELETE CASCADE,
  version text NOT NULL,
  source text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (pixel_id, version)
);
-- 008_privacy.sql
CREATE TABLE opt_outs (
  opt_out_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid REFERENCES organizations ON DELETE CASCADE,
  hem text CHECK (hem ~ '^[0-9a-f]{64}$'),
  cookie_id uuid,
  via_hem text,
  created_at timestamptz NOT NULL DEFAULT now(),
  removed_at timestamptz,
  is_known_to_clickhouse boolean NOT NULL DEFAULT false,
  CHECK (num_nonnulls(hem, cookie_id) = 1)
);
CREATE UNIQUE INDEX opt_outs_subject ON opt_outs (organization_id, hem, cookie_id) NULLS NOT DISTINCT;
CREATE INDEX opt_outs_unknown ON opt_outs (opt_out_id) WHERE NOT is_known_to_clickhouse;
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
CREATE TABLE erasures (
  erasure_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid,
  hem text,
  cookie_ids uuid[] NOT NULL DEFAULT '{}',
  requested_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX erasures_unfinished ON erasures (requested_at) WHERE finished_at IS NULL;
-- 010_key_roles.sql
ALTER TABLE api_keys
  ADD COLUMN role text CHECK (role IN ('owner', 'admin', 'write', 'read')),
  ADD COLUMN created_by_member_id uuid REFERENCES members ON DELETE SET NULL;
CREATE INDEX api_keys_by_maker ON api_keys (created_by_member_id);
UPDATE api_keys SET created_by_member_id = member_id FROM members
WHERE members.organization_id = api_keys.organization_id AND email = created_by;
UPDATE api_keys SET role = CASE
  WHEN project_id IS NOT NULL THEN 'admin'
  WHEN created_by IS NULL THEN 'owner'
  ELSE coalesce(
    (SELECT CASE members.role WHEN 'member' THEN 'write' ELSE members.role END
     FROM members WHERE member_id = created_by_member_id), 'admin')
END;
ALTER TABLE api_keys
  ALTER COLUMN role SET NOT NULL,
  ADD CHECK (project_id IS NULL OR role <> 'owner');
-- 011_partial_refunds.sql
ALTER TABLE idempotent_charges ADD COLUMN handed bigint NOT NULL DEFAULT 0;
DROP FUNCTION refund_response(uuid, uuid, bytea, timestamptz);
CREATE FUNCTION refund_records(charged ledger, refunded bigint, refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  at_a_price CONSTANT bigint := charged.records - charged.free_records;
  of_these CONSTANT bigint := least(refunded, at_a_price);
BEGIN
  IF refunded <= 0 OR EXISTS (SELECT FROM ledger WHERE request_id = charged.request_id AND kind = 'refund') THEN
    RETURN;
  END IF;
  PERFORM write_to_ledger(ROW(charged.request_id, 'refund', charged.organization_id, charged.project_id,
    charged.caller_id, charged.meter, -refunded, of_these - refunded,
    CASE WHEN of_these = 0 THEN 0 ELSE -(charged.amount_micros / at_a_price * of_these) END,
    charged.day, refunded_at, charged.idempotency)::ledger);
END $$;
CREATE FUNCTION refund_response(organization uuid, broken_request_id uuid, broken_idempotency bytea,
  handed_over bigint, refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  entry ledger;
  paid idempotent_charges;
  before bigint := 0;
BEGIN
  PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
  IF broken_idempotency IS NULL THEN
    SELECT * INTO entry FROM ledger WHERE request_id = broken_request_id AND kind = 'charge';
    PERFORM refund_records(entry, entry.records - handed_over, refunded_at);
    RETURN;
  END IF;
  FOR paid IN
    SELECT * FROM idempotent_charges WHERE organization_id = organization AND idempotency = broken_idempotency
    ORDER BY charged_at, request_id
  LOOP
    IF broken_request_id = ANY (paid.holders) THEN
      paid.holders := array_remove(paid.holders, broken_request_id);
      paid.handed := greatest(paid.handed, least(paid.records, handed_over - before));
      UPDATE idempotent_charges SET holders = paid.holders, handed = paid.handed
        WHERE organization_id = organization AND idempotency = broken_idempotency AND request_id = paid.request_id;
    END IF;
    before := before + paid.records;
    CONTINUE WHEN paid.holders <> '{}';
    SELECT * INTO entry FROM ledger WHERE request_id = paid.request_id AND kind = 'charge';
    PERFORM refund_records(entry, paid.records - paid.handed, refunded_at);
    UPDATE idempotent_charges SET records = paid.handed
      WHERE organization_id = organization AND idempotency = broken_idempotency AND request_id = paid.request_id;
    DELETE FROM idempotent_charges
      WHERE organization_id = organization AND idempotency = broken_idempotency AND request_id = paid.request_id
        AND records = 0;
  END LOOP;
END $$;
-- 012_users.sql
CREATE TABLE users (
  user_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL UNIQUE,
  password_hash text NOT NULL,
  password_changed_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO users (user_id, email, password_hash, password_changed_at, created_at)
SELECT member_id, email, password_hash, password_changed_at, created_at FROM members
WHERE password_hash IS NOT NULL;
ALTER TABLE members
  ADD COLUMN user_id uuid REFERENCES users ON DELETE CASCADE,
  ADD COLUMN last_used_at timestamptz,
  DROP CONSTRAINT members_email_key,
  ADD CONSTRAINT members_email_key UNIQUE (organization_id, email);
UPDATE members SET user_id = member_id WHERE password_hash IS NOT NULL;
ALTER TABLE members DROP COLUMN password_hash, DROP COLUMN password_changed_at;
CREATE INDEX members_by_user ON members (user_id);
ALTER TABLE sessions ADD COLUMN user_id uuid REFERENCES users ON DELETE CASCADE;
UPDATE sessions SET user_id = member_id;
ALTER TABLE sessions ALTER COLUMN user_id SET NOT NULL, DROP COLUMN member_id;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE FUNCTION forget_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM users WHERE user_id = OLD.user_id
    AND NOT EXISTS (SELECT FROM members WHERE members.user_id = OLD.user_id);
  RETURN NULL;
END $$;
CREATE TRIGGER members_deleted AFTER DELETE ON members
  FOR EACH ROW WHEN (OLD.user_id IS NOT NULL) EXECUTE FUNCTION forget_user();
-- 013_password_resets.sql
CREATE TABLE password_resets (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  token_sha256 bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
-- 014_privacy_exports.sql
CREATE INDEX audit_log_exports ON audit_log (organization_id, at) WHERE action = 'subject.export';
-- 015_tightest_bucket.sql
DROP FUNCTION take_tokens;
CREATE FUNCTION take_tokens(buckets text[], intervals double precision[], bursts double precision[],
  OUT refused integer, OUT wait_seconds double precision, OUT remaining integer, OUT tightest integer)
LANGUAGE plpgsql AS $$
DECLARE
  now_seconds double precision;
  arrivals double precision[] := '{}';
  arrival_then double precision;
  remaining_here integer;
BEGIN
  refused := 0;
  wait_seconds := 0;
  remaining := 0;
  FOR i IN 1 .. cardinality(buckets) LOOP
    LOOP
      SELECT arrival INTO arrival_then FROM rate_limits WHERE bucket = buckets[i] FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO rate_limits VALUES (buckets[i], 0) ON CONFLICT DO NOTHING;
    END LOOP;
    arrivals := arrivals || arrival_then;
  END LOOP;
  now_seconds := extract(epoch FROM clock_timestamp());
  FOR i IN 1 .. cardinality(buckets) LOOP
    arrivals[i] := greatest(arrivals[i], now_seconds) + intervals[i];
    IF arrivals[i] - now_seconds > intervals[i] * bursts[i] + 1e-6 THEN
      refused := i;
      tightest := i;
      remaining := 0;
      wait_seconds := arrivals[i] - now_seconds - intervals[i] * bursts[i];
      RETURN;
    END IF;
    remaining_here := floor(bursts[i] - (arrivals[i] - now_seconds) / intervals[i] + 1e-6);
    IF tightest IS NULL OR remaining_here < remaining
      OR (remaining_here = remaining AND intervals[i] > intervals[tightest]) THEN
      tightest := i;
      remaining := remaining_here;
    END IF;
  END LOOP;
  FOR i IN 1 .. cardinality(buckets) LOOP
    UPDATE rate_limits SET arrival = arrivals[i] WHERE bucket = buckets[i];
  END LOOP;
END $$;
-- 016_repeats.sql
ALTER TABLE idempotent_charges
  ADD COLUMN meter text,
  ADD COLUMN window_start_ms bigint,
  ADD COLUMN window_end_ms bigint,
  ADD COLUMN record_hashes bigint[] NOT NULL DEFAULT '{}',
  ADD COLUMN handed_hashes bigint[] NOT NULL DEFAULT '{}',
  DROP COLUMN handed,
  ALTER COLUMN record_hashes SET STORAGE EXTERNAL,
  ALTER COLUMN handed_hashes SET STORAGE EXTERNAL;
CREATE OR REPLACE FUNCTION charge_responses(charges jsonb)
RETURNS TABLE (charged_request_id uuid, charged_records bigint, refusal jsonb)
LANGUAGE plpgsql AS $$
DECLARE
  organization uuid;
  charge record;
  entry ledger;
  uncharged bigint[];
  considered record;
BEGIN
  FOR organization IN
    SELECT DISTINCT (value ->> 'organization_id')::uuid AS id FROM jsonb_array_elements(charges) ORDER BY id
  LOOP
    LOOP
      PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO billing_accounts (organization_id) VALUES (organization) ON CONFLICT DO NOTHING;
    END LOOP;
  END LOOP;
  FOR charge IN SELECT * FROM jsonb_to_recordset(charges) AS given (request_id uuid, organization_id uuid,
    project_id uuid, is_project_key boolean, caller_id uuid, meter text, records bigint, at timestamptz,
    idempotency bytea, micros_per_thousand bigint, free_records bigint, window_start_ms bigint,
    window_end_ms bigint, record_hashes bigint[])
  LOOP
    charged_request_id := charge.request_id;
    charged_records := 0;
    refusal := NULL;
    SELECT * INTO entry FROM ledger WHERE request_id = charge.request_id AND kind = 'charge';
    IF FOUND THEN
      charged_records := entry.records;
      RETURN NEXT;
      CONTINUE;
    END IF;
    charged_records := charge.records;
    IF charge.idempotency IS NOT NULL THEN
      uncharged := ARRAY(
        SELECT unnest(charge.record_hashes)
        EXCEPT ALL
        SELECT unnest(kept.record_hashes) FROM idempotent_charges AS kept
        WHERE kept.organization_id = charge.organization_id AND kept.idempotency = charge.idempotency
          AND kept.meter = charge.meter AND kept.charged_at > charge.at - interval '24 hours');
      charged_records := greatest(0,
        charge.records - coalesce(cardinality(charge.record_hashes), 0) + cardinality(uncharged));
    END IF;
    IF charged_records > 0 THEN
      SELECT * INTO considered FROM consider_usage(charge.organization_id, charge.project_id,
        charge.is_project_key, charge.meter, charged_records, charge.at, charge.micros_per_thousand,
        charge.free_records);
      refusal := considered.refusal;
      IF refusal IS NOT NULL THEN
        charged_records := 0;
        RETURN NEXT;
        CONTINUE;
      END IF;
      PERFORM write_to_ledger(ROW(charge.request_id, 'charge', charge.organization_id, charge.project_id,
        charge.caller_id, charge.meter, charged_records, considered.free, considered.amount,
        (charge.at AT TIME ZONE 'UTC')::date, charge.at, charge.idempotency)::ledger);
    END IF;
    IF charge.idempotency IS NOT NULL THEN
      UPDATE idempotent_charges AS kept SET holders = holders || charge.request_id
        WHERE kept.organization_id = charge.organization_id AND kept.idempotency = charge.idempotency
          AND kept.meter = charge.meter AND kept.charged_at > charge.at - interval '24 hours'
          AND cardinality(holders) < 100
          AND EXISTS (SELECT unnest(kept.record_hashes) INTERSECT SELECT unnest(charge.record_hashes));
      IF charged_records > 0 THEN
        INSERT INTO idempotent_charges (organization_id, idempotency, request_id, records, charged_at, holders, meter,
            window_start_ms, window_end_ms, record_hashes)
          VALUES (charge.organization_id, charge.idempotency, charge.request_id, charged_records, charge.at,
            ARRAY[charge.request_id], charge.meter, charge.window_start_ms, charge.window_end_ms,
            uncharged[1:charged_records]);
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
DROP FUNCTION refund_response(uuid, uuid, bytea, bigint, timestamptz);
CREATE FUNCTION refund_response(organization uuid, broken_request_id uuid, broken_idempotency bytea,
  handed_over bigint, handed_over_hashes bigint[], refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  entry ledger;
  paid idempotent_charges;
BEGIN
  PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
  IF broken_idempotency IS NULL THEN
    SELECT * INTO entry FROM ledger WHERE request_id = broken_request_id AND kind = 'charge';
    PERFORM refund_records(entry, entry.records - handed_over, refunded_at);
    RETURN;
  END IF;
  FOR paid IN
    SELECT * FROM idempotent_charges WHERE organization_id = organization AND idempotency = broken_idempotency
      AND broken_request_id = ANY (holders)
  LOOP
    paid.holders := array_remove(paid.holders, broken_request_id);
    paid.handed_hashes := ARRAY(
      SELECT unnest(paid.handed_hashes)
      UNION (SELECT unnest(paid.record_hashes) INTERSECT SELECT unnest(handed_over_hashes)));
    IF paid.holders = '{}' THEN
      SELECT * INTO entry FROM ledger WHERE request_id = paid.request_id AND kind = 'charge';
      PERFORM refund_records(entry, paid.records - cardinality(paid.handed_hashes), refunded_at);
      paid.records := cardinality(paid.handed_hashes);
      paid.record_hashes := paid.handed_hashes;
    END IF;
    UPDATE idempotent_charges
      SET holders = paid.holders, records = paid.records, record_hashes = paid.record_hashes,
        handed_hashes = paid.handed_hashes
      WHERE organization_id = organization AND idempotency = broken_idempotency AND request_id = paid.request_id;
    DELETE FROM idempotent_charges
      WHERE organization_id = organization AND idempotency = broken_idempotency AND request_id = paid.request_id
        AND records = 0;
  END LOOP;
END $$;
-- 017_collectors.sql
CREATE TABLE collectors (
  collector_id uuid PRIMARY KEY,
  hostname text NOT NULL,
  complete_until_ms bigint NOT NULL,
  reported_at timestamptz NOT NULL DEFAULT now()
);
-- 018_identify_secrets.sql
ALTER TABLE pixels
  ADD COLUMN identify_secret_newest integer NOT NULL DEFAULT 1,
  ADD COLUMN identify_secret_oldest integer NOT NULL DEFAULT 1;
-- 019_audiences.sql
CREATE TABLE audiences (
  audience_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  entity text NOT NULL CHECK (entity IN ('people', 'companies')),
  definition jsonb NOT NULL,
  intent_window_days integer NOT NULL CHECK (intent_window_days BETWEEN 1 AND 365),
  refresh text NOT NULL DEFAULT 'manual' CHECK (refresh IN ('manual', 'hourly', 'daily')),
  current_build_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audiences_by_project ON audiences (project_id, created_at, audience_id);
CREATE TABLE audience_uses (
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  used_id uuid NOT NULL REFERENCES audiences (audience_id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (audience_id, used_id)
);
CREATE INDEX audience_uses_by_used ON audience_uses (used_id);
CREATE TABLE audience_builds (
  build_id uuid PRIMARY KEY,
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  number bigint GENERATED ALWAYS AS IDENTITY,
  definition jsonb NOT NULL,
  intent_window_days integer NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'unloading', 'completed', 'failed')),
  progress real NOT NULL DEFAULT 0,
  error text,
  as_of timestamptz,
  count bigint,
  bucket_counts jsonb,
  requested_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  members_kept boolean NOT NULL DEFAULT true
);
CREATE INDEX audience_builds_by_audience ON audience_builds (audience_id, number DESC);
CREATE INDEX audience_builds_waiting ON audience_builds (number) WHERE status IN ('pending', 'unloading');
ALTER TABLE audiences ADD FOREIGN KEY (current_build_id) REFERENCES audience_builds (build_id) ON DELETE SET NULL;
CREATE TABLE audience_leaf_days (
  leaf_id uuid NOT NULL,
  day date NOT NULL,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  run_id uuid,
  fingerprint text,
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (leaf_id, day)
);
CREATE INDEX audience_leaf_days_by_project ON audience_leaf_days (project_id);
-- 021_build_charges.sql
CREATE TABLE build_charges (
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  keys int8multirange NOT NULL,
  records bigint NOT NULL,
  PRIMARY KEY (build_id, day)
);
CREATE TABLE build_reads (
  request_id uuid PRIMARY KEY,
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  read_at timestamptz NOT NULL,
  idempotency bytea,
  keys int8multirange NOT NULL,
  paid int8multirange NOT NULL,
  is_broken boolean NOT NULL DEFAULT false
);
CREATE INDEX build_reads_by_build ON build_reads (build_id, day);
CREATE INDEX build_reads_by_idempotency ON build_reads (build_id, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX build_reads_by_age ON build_reads (read_at);
-- 022_audience_files.sql
ALTER TABLE audience_builds ADD COLUMN download_charged_at timestamptz;
CREATE TABLE audience_files (
  file_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  format text NOT NULL CHECK (format IN ('csv', 'ndjson', 'parquet')),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'unloading', 'ready', 'failed', 'expired')),
  parts jsonb NOT NULL DEFAULT '[]',
  shown text,
  verified_at timestamptz,
  expires_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  is_stored boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX audience_files_of_build ON audience_files (build_id, format)
  WHERE status IN ('pending', 'unloading', 'ready');
CREATE INDEX audience_files_stored ON audience_files (file_id) WHERE is_stored;
-- 024_audience_file_leftovers.sql
CREATE TABLE audience_file_leftovers (file_id uuid PRIMARY KEY);
CREATE FUNCTION note_file_leftover() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audience_file_leftovers VALUES (OLD.file_id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER audience_file_deleted AFTER DELETE ON audience_files
  FOR EACH ROW WHEN (OLD.is_stored) EXECUTE FUNCTION note_file_leftover();
-- 025_audience_build_inputs.sql
ALTER TABLE audience_builds ADD COLUMN inputs jsonb;
-- 026_refunds_in_parts.sql
ALTER TABLE ledger DROP CONSTRAINT ledger_pkey;
CREATE UNIQUE INDEX ledger_charges ON ledger (request_id) WHERE kind = 'charge';
CREATE INDEX ledger_refunds ON ledger (request_id) WHERE kind = 'refund';
-- 030_intent_rules.sql
CREATE TABLE intent_rules (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  rules jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
-- 031_predictive_builds.sql
ALTER TABLE audience_builds ADD COLUMN is_predictive boolean NOT NULL DEFAULT false;
-- 040_lists.sql
CREATE TABLE lists (
  list_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('emails', 'hems', 'domains', 'cookies')),
  count bigint NOT NULL DEFAULT 0,
  counted_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX lists_by_project ON lists (project_id, list_id);
CREATE TABLE list_imports (
  import_id uuid PRIMARY KEY,
  list_id uuid NOT NULL REFERENCES lists ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  file jsonb NOT NULL,
  bytes_done bigint NOT NULL,
  lines_done bigint NOT NULL,
  rows_done bigint NOT NULL DEFAULT 0,
  rows_total bigint NOT NULL DEFAULT 0,
  rows_matched bigint NOT NULL DEFAULT 0,
  rows_unmatched bigint NOT NULL DEFAULT 0,
  rows_duplicate bigint NOT NULL DEFAULT 0,
  rows_rejected bigint NOT NULL DEFAULT 0,
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CHECK (rows_total = rows_matched + rows_unmatched + rows_duplicate + rows_rejected)
);
CREATE INDEX list_imports_by_list ON list_imports (list_id, import_id);
CREATE INDEX list_imports_unfinished ON list_imports (import_id) WHERE status IN ('pending', 'processing');
CREATE INDEX list_imports_not_completed ON list_imports (list_id) WHERE status <> 'completed';
CREATE TABLE audience_lists (
  audience_id uuid NOT NULL REFERENCES audiences ON DELETE CASCADE,
  list_id uuid NOT NULL REFERENCES lists DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (audience_id, list_id)
);
CREATE INDEX audience_lists_by_list ON audience_lists (list_id);
-- 050_integrations.sql
CREATE TABLE integrations (
  integration_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  type text NOT NULL
    CHECK (type IN ('hubspot', 'salesforce', 's3', 'webhook', 'the_trade_desk', 'meta_ads')),
  name text NOT NULL,
  settings jsonb NOT NULL,
  sealed_secrets text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX integrations_by_project ON integrations (project_id, integration_id);
-- 051_exports.sql
CREATE TABLE exports (
  export_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  audience_id uuid REFERENCES audiences DEFERRABLE INITIALLY DEFERRED,
  list_id uuid REFERENCES lists DEFERRABLE INITIALLY DEFERRED,
  integration_id uuid NOT NULL REFERENCES integrations DEFERRABLE INITIALLY DEFERRED,
  output_format text NOT NULL CHECK (
    output_format IN ('csv', 'ndjson', 'parquet', 'hem', 'ip_address', 'company_domain', 'crm')),
  mapping json,
  schedule text NOT NULL DEFAULT 'manual' CHECK (schedule IN ('manual', 'hourly', 'daily')),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(audience_id, list_id) = 1)
);
CREATE INDEX exports_by_project ON exports (project_id, export_id);
CREATE INDEX exports_by_audience ON exports (audience_id);
CREATE INDEX exports_by_list ON exports (list_id);
CREATE INDEX exports_by_integration ON exports (integration_id);
CREATE INDEX exports_scheduled ON exports (export_id) WHERE schedule <> 'manual';
CREATE TABLE export_runs (
  run_id uuid PRIMARY KEY,
  export_id uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
  retry_of uuid REFERENCES export_runs ON DELETE CASCADE,
  build_id uuid REFERENCES audience_builds ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  output_format text NOT NULL,
  mapping json,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'parked', 'completed', 'failed')),
  records_expected bigint NOT NULL,
  records_exported bigint NOT NULL DEFAULT 0,
  records_failed bigint NOT NULL DEFAULT 0,
  records_duplicated bigint NOT NULL DEFAULT 0,
  records_total bigint NOT NULL
    GENERATED ALWAYS AS (records_exported + records_failed + records_duplicated) STORED,
  records_charged bigint NOT NULL DEFAULT 0,
  done_key bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  chunk_state jsonb,
  resumes_at timestamptz,
  stop_reason text,
  stop_class text CHECK (stop_class IN ('retry', 'mend', 'never')),
  requested_by uuid NOT NULL,
  is_project_key boolean NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX export_runs_unfinished ON export_runs (export_id)
  WHERE status IN ('pending', 'running', 'parked');
CREATE INDEX export_runs_by_export ON export_runs (export_id, run_id);
CREATE INDEX export_runs_by_build ON export_runs (build_id);
CREATE INDEX export_runs_by_retried ON export_runs (retry_of);
CREATE TABLE export_outcomes (
  run_id uuid NOT NULL REFERENCES export_runs ON DELETE CASCADE,
  key bigint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('failed', 'duplicated')),
  record text NOT NULL,
  reason text NOT NULL,
  class text CHECK (class IN ('retry', 'mend', 'never')),
  is_charged boolean NOT NULL,
  PRIMARY KEY (run_id, key)
);
CREATE INDEX export_outcomes_by_record ON export_outcomes (record);
CREATE TABLE export_identities (
  run_id uuid NOT NULL REFERENCES export_runs ON DELETE CASCADE,
  identity bytea NOT NULL,
  PRIMARY KEY (run_id, identity)
);
CREATE TABLE export_recipients (
  integration_id uuid NOT NULL REFERENCES integrations ON DELETE CASCADE,
  hem bytea NOT NULL,
  remote_id text,
  sent_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  remove_after timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (integration_id, hem)
);
CREATE INDEX export_recipients_by_hem ON export_recipients (hem);
ALTER TABLE audience_builds ADD COLUMN members_kept_until timestamptz;
-- 060_outbox.sql
CREATE TABLE outbox_messages (
  message_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  dispatched_at timestamptz
);
CREATE INDEX outbox_messages_waiting ON outbox_messages (created_at) WHERE dispatched_at IS NULL;
CREATE INDEX outbox_messages_by_age ON outbox_messages (created_at);
CREATE INDEX outbox_messages_by_organization ON outbox_messages (organization_id);
CREATE INDEX outbox_messages_by_project ON outbox_messages (project_id);
-- 061_webhooks.sql
CREATE TABLE webhooks (
  webhook_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  description text,
  url text NOT NULL,
  event_types text[] NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  disabled_reason text CHECK (disabled_reason IN ('failing', 'gone')),
  disabled_at timestamptz,
  failing_since timestamptz,
  sealed_secret text NOT NULL,
  former_sealed_secret text,
  former_secret_until timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, webhook_id);
CREATE INDEX webhooks_by_project ON webhooks (project_id);
CREATE TABLE webhook_deliveries (
  delivery_id uuid PRIMARY KEY,
  webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  message_id uuid NOT NULL REFERENCES outbox_messages ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  attempts_of_round integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz DEFAULT now(),
  leased_until timestamptz,
  last_attempt_at timestamptz,
  response_status integer,
  response_body text,
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_id, message_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_soonest ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, created_at, delivery_id);
CREATE INDEX webhook_deliveries_by_message ON webhook_deliveries (message_id);
CREATE TABLE outbox_mails (
  mail_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- 062_budget_notices.sql
CREATE TABLE budget_notices (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  project_id uuid NOT NULL,
  month date NOT NULL,
  threshold integer NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, project_id, month, threshold)
);
-- 063_silent_pixels.sql
CREATE TABLE pixel_voices (
  pixel_id uuid PRIMARY KEY REFERENCES pixels ON DELETE CASCADE,
  last_event_at timestamptz NOT NULL,
  silence_told_at timestamptz
);
CREATE TABLE pixel_listening (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  since timestamptz NOT NULL,
  last_at timestamptz NOT NULL
);
-- 070_collectors_erase.sql
ALTER TABLE collectors ADD COLUMN erased_until_ms bigint NOT NULL DEFAULT 0;
-- 071_upload_places.sql
ALTER TABLE list_imports ADD COLUMN collector_id uuid;
-- 072_chunks_sent.sql
ALTER TABLE export_runs ADD COLUMN chunk_sent boolean NOT NULL DEFAULT false;
-- 073_exports_of_lists.sql
ALTER TABLE audiences
  ADD COLUMN list_id uuid UNIQUE REFERENCES lists ON DELETE CASCADE,
  ADD COLUMN list_version bigint;
ALTER TABLE lists ADD COLUMN members_version bigint NOT NULL DEFAULT 0;
ALTER TABLE export_runs ALTER COLUMN records_expected DROP NOT NULL;
-- 080_ship_turns.sql
CREATE TABLE ship_turns (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  turn bigint NOT NULL,
  collector_id uuid
);
INSERT INTO ship_turns (turn) VALUES (0);
CREATE TABLE shipped_ids (
  turn bigint PRIMARY KEY,
  hashes bytea NOT NULL
);
ALTER TABLE shipped_ids ALTER COLUMN hashes SET STORAGE EXTERNAL;
-- 090_analytics_goals.sql
CREATE TABLE analytics_goals (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  goals jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
-- 095_ledger_by_time.sql
CREATE INDEX ledger_charges_by_time ON ledger (organization_id, at DESC, request_id DESC) WHERE kind = 'charge';
-- 100_account.sql
ALTER TABLE sessions
  ADD COLUMN session_id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  ADD COLUMN last_used_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN user_agent text,
  ADD COLUMN address text;
CREATE TABLE second_factors (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  secret text NOT NULL,
  confirmed_at timestamptz,
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES second_factors ON DELETE CASCADE,
  code_sha256 bytea NOT NULL,
  PRIMARY KEY (user_id, code_sha256)
);
CREATE TABLE email_changes (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  email text NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
-- 101_key_expiry.sql
ALTER TABLE api_keys ADD COLUMN expires_at timestamptz;
-- 102_usage_by_caller.sql
CREATE TABLE usage_by_caller (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  caller_id uuid NOT NULL,
  project_id uuid NOT NULL,
  meter text NOT NULL,
  records bigint NOT NULL,
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (organization_id, day, caller_id, project_id, meter)
) WITH (fillfactor = 50);
INSERT INTO usage_by_caller
SELECT organization_id, day, caller_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'), meter,
  sum(records), sum(free_records), sum(amount_micros)
FROM ledger GROUP BY 1, 2, 3, 4, 5;
-- 103_operators.sql
ALTER TABLE users ADD COLUMN is_operator boolean NOT NULL DEFAULT false;
-- 120_share_links.sql
CREATE TABLE share_links (
  share_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  pixel_id uuid REFERENCES pixels ON DELETE CASCADE,
  name text NOT NULL,
  secret_sha256 bytea NOT NULL UNIQUE,
  created_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX share_links_of_project ON share_links (project_id);
-- 121_summary_subscriptions.sql
CREATE TABLE summary_subscriptions (
  subscription_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  frequency text,
  since timestamptz NOT NULL DEFAULT now(),
  told_period date,
  UNIQUE (project_id, member_id)
);
CREATE INDEX summary_subscriptions_of_member ON summary_subscriptions (member_id);
-- 135_erasure_steps.sql
ALTER TABLE erasures ADD COLUMN emptied_at timestamptz;
-- 140_charges_carried.sql
ALTER TABLE build_charges ADD COLUMN audience_id uuid,
  ADD COLUMN paid int8multirange NOT NULL DEFAULT '{}';
UPDATE build_charges SET audience_id = build.audience_id
  FROM audience_builds AS build WHERE build.build_id = build_charges.build_id;
ALTER TABLE build_charges ALTER COLUMN audience_id SET NOT NULL;
INSERT INTO build_charges AS charged (build_id, day, audience_id, keys, records, paid)
  SELECT build_id, (read_at AT TIME ZONE 'UTC')::date, audience_id, '{}', 0, range_agg(paid)
  FROM build_reads JOIN audience_builds USING (build_id) GROUP BY 1, 2, 3
  ON CONFLICT (build_id, day) DO UPDATE SET paid = excluded.paid;
CREATE INDEX build_charges_by_audience ON build_charges (audience_id, day);
CREATE TABLE build_carries (
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  from_build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  from_keys int8multirange NOT NULL,
  keys int8multirange NOT NULL,
  PRIMARY KEY (build_id, day, from_build_id)
);
CREATE INDEX build_carries_by_source ON build_carries (from_build_id, day);
-- 141_proven_addresses.sql
ALTER TABLE users
  ADD COLUMN email_proven_at timestamptz,
  ADD COLUMN signed_out_at timestamptz;
ALTER TABLE members ADD COLUMN invitation_by_mail boolean NOT NULL DEFAULT false;
-- 142_pixel_ip.sql
UPDATE pixels SET settings = settings || '{"ip": "full"}' WHERE NOT settings ? 'ip';
-- 143_park_reasons.sql
ALTER TABLE export_runs ADD COLUMN park_reason text;
-- 144_rows_added.sql
ALTER TABLE list_imports ADD COLUMN rows_added bigint NOT NULL DEFAULT 0;
UPDATE list_imports SET rows_added = rows_matched + rows_unmatched;
ALTER TABLE list_imports DROP COLUMN rows_matched, DROP COLUMN rows_unmatched;
ALTER TABLE list_imports ADD CHECK (rows_total = rows_added + rows_duplicate + rows_rejected);
-- 145_clickhouse_shards.sql
CREATE TABLE clickhouse_shards (
  database text,
  position integer,
  shard_id uuid NOT NULL,
  PRIMARY KEY (database, position)
);
