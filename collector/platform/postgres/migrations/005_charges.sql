-- What responses cost, what an organization may spend, and what is reported to the payment processor. The ledger and
-- its totals remain after their organizations and projects are deleted.

CREATE TABLE billing_accounts (
  organization_id uuid PRIMARY KEY,
  -- Only operators set it: billed reads are refused.
  shut_off_at timestamptz,
  -- The most that a calendar month (UTC) may cost. Null: no limit.
  monthly_micros bigint CHECK (monthly_micros >= 0),
  -- Null: usage is not reported to Stripe.
  stripe_customer_id text,
  -- Only operators set it. Null: FOOTFALL_FREE_ANSWERS_PER_DAY.
  free_answers_per_day bigint CHECK (free_answers_per_day >= 0)
);

-- The free answers about people that an organization received on a UTC day: one row for each question, however often it
-- was asked. Past days are deleted.
CREATE TABLE free_answers (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  day date NOT NULL,
  -- sha256 of the question.
  question bytea NOT NULL,
  -- Whether it was asked again. A failure of the first request then gives nothing back: another one has the answer.
  is_repeated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (organization_id, day, question)
);

CREATE TABLE project_budgets (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  monthly_micros bigint NOT NULL CHECK (monthly_micros >= 0)
);

-- Which thresholds of a budget were reported in a month: each once.
CREATE TABLE budget_notices (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- All zeros: the organization's own budget.
  project_id uuid NOT NULL,
  -- The month's first day, UTC.
  month date NOT NULL,
  -- Percent.
  threshold integer NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, project_id, month, threshold)
);

-- The most records of a meter for the whole organization. Null: no limit.
CREATE TABLE usage_limits (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  meter text NOT NULL,
  daily_records bigint CHECK (daily_records >= 0),
  monthly_records bigint CHECK (monthly_records >= 0),
  PRIMARY KEY (organization_id, meter)
);

-- Prices of an organization that differ from the defaults.
CREATE TABLE meter_prices (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  meter text NOT NULL,
  -- A record costs whole micros, so amounts are never rounded.
  micros_per_thousand bigint NOT NULL CHECK (micros_per_thousand >= 0 AND micros_per_thousand % 1000 = 0),
  free_records_per_month bigint NOT NULL CHECK (free_records_per_month >= 0),
  PRIMARY KEY (organization_id, meter)
);

-- One row for each charged response, and one for each refund of it. Rows are only inserted. A response is charged once.
-- A charge that pays for several answers is refunded in parts, as each of them breaks off.
CREATE TABLE ledger (
  request_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('charge', 'refund')),
  organization_id uuid NOT NULL,
  project_id uuid,
  -- The API key, or the member with a token or a session.
  caller_id uuid NOT NULL,
  meter text NOT NULL,
  -- Negative in a refund, as the next two columns are.
  records bigint NOT NULL,
  -- How many of these records the month's free allowance covered.
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  -- UTC. A refund has the day of its charge.
  day date NOT NULL,
  at timestamptz NOT NULL,
  -- sha256 of the request and its Idempotency-Key.
  idempotency bytea,
  -- The API request that a charge belongs to, if it has an id of its own: each chunk of an export is a charge.
  for_request uuid
);
CREATE UNIQUE INDEX ledger_charges ON ledger (request_id) WHERE kind = 'charge';
CREATE INDEX ledger_of_request ON ledger (for_request) WHERE for_request IS NOT NULL;
CREATE INDEX ledger_refunds ON ledger (request_id) WHERE kind = 'refund';
-- Lists an organization's charges, newest first, for the log of requests.
CREATE INDEX ledger_charges_by_time ON ledger (organization_id, at DESC, request_id DESC) WHERE kind = 'charge';

-- The rejected events with content that an organization has read on a UTC day. The first ones of a day are free.
CREATE TABLE free_rejected_events (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  day date NOT NULL,
  events bigint NOT NULL
);

-- Sums of the ledger, updated in the same transaction (../functions/write_to_ledger.sql).
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

-- Sums of the ledger by caller, updated in the same transaction: what each key costs.
CREATE TABLE usage_by_caller (
  organization_id uuid NOT NULL,
  -- UTC.
  day date NOT NULL,
  -- The API key, or the member.
  caller_id uuid NOT NULL,
  -- All zeros: of no single project.
  project_id uuid NOT NULL,
  meter text NOT NULL,
  records bigint NOT NULL,
  free_records bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (organization_id, day, caller_id, project_id, meter)
) WITH (fillfactor = 50);

-- Charges of requests with an Idempotency-Key. A repeat is free for exactly the records that were charged.
CREATE TABLE idempotent_charges (
  organization_id uuid NOT NULL,
  idempotency bytea NOT NULL,
  request_id uuid NOT NULL,
  records bigint NOT NULL,
  charged_at timestamptz NOT NULL,
  -- The requests whose answers the charge pays for: the charged request and its repeats.
  holders uuid[] NOT NULL,
  -- Null: no request counts as a repeat of it.
  meter text,
  -- The window of a read that has one. A repeat reads the same window.
  window_start_ms bigint,
  window_end_ms bigint,
  -- Hashes of the charged records: 8 bytes each, of at most 10,000 events or 50,000 visitors.
  record_hashes bigint[] NOT NULL DEFAULT '{}',
  -- The records among them that answers delivered before they broke off.
  handed_hashes bigint[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (organization_id, idempotency, request_id)
);
-- Hashes cannot be compressed.
ALTER TABLE idempotent_charges
  ALTER COLUMN record_hashes SET STORAGE EXTERNAL,
  ALTER COLUMN handed_hashes SET STORAGE EXTERNAL;
CREATE INDEX idempotent_charges_by_age ON idempotent_charges (charged_at);

-- How many records beyond the allowance usage_reports already has, for each month.
CREATE TABLE reported_usage (
  organization_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  records bigint NOT NULL,
  PRIMARY KEY (organization_id, meter, month)
);

-- Usage for the payment processor. The primary processes send it, oldest first.
CREATE TABLE usage_reports (
  -- Stripe accepts the same id only once.
  report_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  records bigint NOT NULL CHECK (records > 0),
  used_at timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL,
  -- The first try that got no answer: Stripe may have received it.
  unsure_since timestamptz,
  last_error text,
  sent_at timestamptz
);
CREATE INDEX usage_reports_to_send ON usage_reports (next_try_at) WHERE sent_at IS NULL;

-- Totals that differ from the sum of the ledger. Has no rows at any time.
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
