-- A repeat with the same Idempotency-Key is free for the records that were charged, and for no others.

ALTER TABLE idempotent_charges
  -- Null: charged by an earlier release, so nothing is a repeat of it.
  ADD COLUMN meter text,
  -- The window that was read, of reads that have one; a repeat reads the same.
  ADD COLUMN window_start_ms bigint,
  ADD COLUMN window_end_ms bigint,
  -- What tells the first and the last record of the answer; those between them are known.
  ADD COLUMN first_key text,
  ADD COLUMN last_key text;

/*
 * Charges responses: each is in the ledger afterwards, or `refusal` says why it is not (see consider_usage). The
 * account's row lock lets one transaction at a time decide for an organization, so nothing is ever overspent. The same
 * request_id is charged once, however often it is given.
 */
CREATE OR REPLACE FUNCTION charge_responses(charges jsonb)
RETURNS TABLE (charged_request_id uuid, charged_records bigint, refusal jsonb)
LANGUAGE plpgsql AS $$
DECLARE
  organization uuid;
  charge record;
  known bigint;
  paid bigint;
  last_paid idempotent_charges;
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
    idempotency bytea, micros_per_thousand bigint, free_records bigint, window_start_ms bigint,
    window_end_ms bigint, first_key text, last_key text, known_records bigint)
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
      SELECT * INTO last_paid FROM idempotent_charges AS kept
        WHERE organization_id = charge.organization_id AND kept.idempotency = charge.idempotency
          AND kept.meter = charge.meter AND charged_at > charge.at - interval '24 hours'
        ORDER BY charged_at DESC, request_id DESC LIMIT 1;
      -- The same first and last record are the same answer; of another one those count that were in it.
      IF (last_paid.first_key, last_paid.last_key) = (charge.first_key, charge.last_key)
        OR charge.known_records > 0 THEN
        WITH held AS (
          -- Past a hundred one of them will have been delivered.
          UPDATE idempotent_charges AS kept SET holders =
            CASE WHEN cardinality(holders) < 100 THEN holders || charge.request_id ELSE holders END
          WHERE organization_id = charge.organization_id AND kept.idempotency = charge.idempotency
            AND kept.meter = charge.meter AND charged_at > charge.at - interval '24 hours'
          RETURNING records
        )
        SELECT coalesce(sum(records), 0) INTO paid FROM held;
        IF (last_paid.first_key, last_paid.last_key) IS DISTINCT FROM (charge.first_key, charge.last_key) THEN
          paid := least(paid, charge.known_records);
        END IF;
      END IF;
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
          INSERT INTO idempotent_charges (organization_id, idempotency, request_id, records, charged_at, holders, meter,
              window_start_ms, window_end_ms, first_key, last_key)
            VALUES (charge.organization_id, charge.idempotency, charge.request_id, charged_records, charge.at,
              ARRAY[charge.request_id], charge.meter, charge.window_start_ms, charge.window_end_ms,
              charge.first_key, charge.last_key);
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
 * Takes note that the answer to a request broke off after so many of its records, and refunds what pays for no record
 * any more. A charge without Idempotency-Key pays for one answer; those with one pay, in their order, for the records
 * of every answer that holds them.
 */
CREATE OR REPLACE FUNCTION refund_response(organization uuid, broken_request_id uuid, broken_idempotency bytea,
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
      before := before + paid.records;
    END IF;
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
