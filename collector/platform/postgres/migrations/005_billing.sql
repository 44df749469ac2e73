-- What was charged, and what may be. The ledger and its totals outlive the organizations and projects they tell of.

CREATE TABLE billing_accounts (
  organization_id uuid PRIMARY KEY,
  -- Set by operators alone: usage is paused.
  shut_off_at timestamptz,
  -- What one calendar month (UTC) may cost; null: anything.
  monthly_micros bigint CHECK (monthly_micros >= 0),
  -- Null: nothing is told to Stripe yet.
  stripe_customer_id text
);

CREATE TABLE project_budgets (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  monthly_micros bigint NOT NULL CHECK (monthly_micros >= 0)
);

-- Most records of a meter, for the whole organization; null: any number.
CREATE TABLE usage_limits (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  meter text NOT NULL,
  daily_records bigint CHECK (daily_records >= 0),
  monthly_records bigint CHECK (monthly_records >= 0),
  PRIMARY KEY (organization_id, meter)
);

-- Where an organization's prices differ from the defaults (collector/billing/prices.ts).
CREATE TABLE meter_prices (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  meter text NOT NULL,
  -- A record costs whole micros, so nothing is ever rounded.
  micros_per_thousand bigint NOT NULL CHECK (micros_per_thousand >= 0 AND micros_per_thousand % 1000 = 0),
  free_records_per_month bigint NOT NULL CHECK (free_records_per_month >= 0),
  PRIMARY KEY (organization_id, meter)
);

-- One row for each charged response, and one more when it was given back. Rows are only ever added.
CREATE TABLE ledger (
  request_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('charge', 'refund')),
  organization_id uuid NOT NULL,
  project_id uuid,
  -- The API key, or the member with a token or a session.
  caller_id uuid NOT NULL,
  meter text NOT NULL,
  -- Below zero in a refund, like the two after it.
  records bigint NOT NULL,
  -- Of these, how many the month's free allowance covered.
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  -- UTC; a refund stands in the day of its charge.
  day date NOT NULL,
  at timestamptz NOT NULL,
  -- sha256 of the request and its Idempotency-Key.
  idempotency bytea,
  PRIMARY KEY (request_id, kind)
);

-- Sums of the ledger, changed together with it.
CREATE TABLE usage_totals (
  organization_id uuid NOT NULL,
  -- All zeros: the whole organization.
  project_id uuid NOT NULL,
  period text NOT NULL CHECK (period IN ('day', 'month')),
  -- First day of the period, UTC.
  starts date NOT NULL,
  meter text NOT NULL,
  records bigint NOT NULL,
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (organization_id, project_id, period, starts, meter)
) WITH (fillfactor = 50);

-- Charges whose repeats are free, one row each.
CREATE TABLE idempotent_charges (
  organization_id uuid NOT NULL,
  idempotency bytea NOT NULL,
  request_id uuid NOT NULL,
  records bigint NOT NULL,
  charged_at timestamptz NOT NULL,
  -- The requests whose answers it pays for: the one that was charged, and its repeats.
  holders uuid[] NOT NULL,
  PRIMARY KEY (organization_id, idempotency, request_id)
);
CREATE INDEX idempotent_charges_by_age ON idempotent_charges (charged_at);

-- How many records beyond the allowance are in usage_reports already, for each month.
CREATE TABLE reported_usage (
  organization_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  records bigint NOT NULL,
  PRIMARY KEY (organization_id, meter, month)
);

-- What the payment processor is to be told; sent by the primary processes, oldest first.
CREATE TABLE usage_reports (
  -- Stripe takes the same one only once.
  report_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  records bigint NOT NULL CHECK (records > 0),
  used_at timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL,
  -- The first try whose answer never came: Stripe may have it.
  unsure_since timestamptz,
  last_error text,
  sent_at timestamptz
);
CREATE INDEX usage_reports_to_send ON usage_reports (next_try_at) WHERE sent_at IS NULL;

/*
 * Whether so many records of a meter may be had now, and what they would cost. `refusal` is null, or says why not:
 *   { "kind": "shut_off" }
 *   { "kind": "budget", "of": "organization" | "project", "monthly_micros", "spent_micros" }
 *   { "kind": "request_too_large" | "limit_reached", "period": "day" | "month", "limit", "used" }
 * Only a key of a project is bound by its project's budget.
 */
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
  -- The month first: when both are used up, waiting for midnight would not help.
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

/* Adds an entry to the ledger and to the totals of its day and month. Its account's row must be locked. */
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

/*
 * Charges responses: each is in the ledger afterwards, or `refusal` says why it is not (see consider_usage). The
 * account's row lock lets one transaction at a time decide for an organization, so nothing is ever overspent. The same
 * request_id is charged once, however often it is given.
 */
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
  -- In one order, so that no two wait for each other.
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
        -- Past a hundred one of them will have been delivered.
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

/*
 * Takes note that the answer to a request broke off, and gives back every charge that pays for no answer any more; a
 * charge without Idempotency-Key pays for one. Once: what is given back already stays as it is.
 */
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

-- Where totals are not the sum of the ledger: no rows, at every moment.
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
