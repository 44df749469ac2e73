-- A repeat with the same Idempotency-Key is free for exactly the records that were charged.

ALTER TABLE idempotent_charges
  -- Null: charged by an earlier release, so nothing is a repeat of it.
  ADD COLUMN meter text,
  -- The window that was read, of reads that have one; a repeat reads the same.
  ADD COLUMN window_start_ms bigint,
  ADD COLUMN window_end_ms bigint,
  -- The hashes of the records that were charged: 8 bytes each, of at most 10,000 events or 50,000 visitors.
  ADD COLUMN record_hashes bigint[] NOT NULL DEFAULT '{}',
  -- Which of these records answers that broke off have handed over.
  ADD COLUMN handed_hashes bigint[] NOT NULL DEFAULT '{}',
  DROP COLUMN handed,
  -- Hashes cannot be compressed.
  ALTER COLUMN record_hashes SET STORAGE EXTERNAL,
  ALTER COLUMN handed_hashes SET STORAGE EXTERNAL;

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
  entry ledger;
  uncharged bigint[];
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
      -- Past a hundred holders one of them will have been delivered.
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
            -- Never more than were charged.
            uncharged[1:charged_records]);
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

DROP FUNCTION refund_response(uuid, uuid, bytea, bigint, timestamptz);

/*
 * Takes note that the answer to a request broke off after so many of its records, and refunds what pays for no record
 * any more. A charge without Idempotency-Key pays for one answer; one with a key for each of its records until every
 * answer that holds it has broken off before that record, so of these the hashes of what was handed over are told.
 */
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
