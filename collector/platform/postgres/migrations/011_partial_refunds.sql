-- An answer that breaks off is refunded to the record: what was handed over stays charged.

-- Of the records that a charge pays for, how many an answer that broke off has handed over.
ALTER TABLE idempotent_charges ADD COLUMN handed bigint NOT NULL DEFAULT 0;

DROP FUNCTION refund_response(uuid, uuid, bytea, timestamptz);

/*
 * Refunds `refunded` records of a charge, once: first those that cost something, as if they had never been charged.
 * The account's row must be locked.
 */
CREATE FUNCTION refund_records(charged ledger, refunded bigint, refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  at_a_price CONSTANT bigint := charged.records - charged.free_records;
  of_these CONSTANT bigint := least(refunded, at_a_price);
BEGIN
  IF refunded <= 0 OR EXISTS (SELECT FROM ledger WHERE request_id = charged.request_id AND kind = 'refund') THEN
    RETURN;
  END IF;
  -- A record costs whole micros, so this divides without a rest.
  PERFORM write_to_ledger(ROW(charged.request_id, 'refund', charged.organization_id, charged.project_id,
    charged.caller_id, charged.meter, -refunded, of_these - refunded,
    CASE WHEN of_these = 0 THEN 0 ELSE -(charged.amount_micros / at_a_price * of_these) END,
    charged.day, refunded_at, charged.idempotency)::ledger);
END $$;

/*
 * Takes note that the answer to a request broke off after so many of its records, and refunds what pays for no record
 * any more. A charge without Idempotency-Key pays for one answer; those with one pay, in their order, for the records
 * of every answer that holds them.
 */
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
