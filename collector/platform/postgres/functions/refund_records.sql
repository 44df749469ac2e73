/*
 * Refunds `refunded` records of the rest of a charge, priced records before free ones, as if they had never
 * been charged. The caller ensures that these records were not refunded before. The account's row must be
 * locked.
 */
CREATE OR REPLACE FUNCTION refund_records(charged ledger, refunded bigint, refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  charge_left bigint;
  at_a_price bigint;
  amount_left bigint;
  these bigint;
  of_these bigint;
BEGIN
  SELECT sum(records), sum(records - free_records), sum(amount_micros) INTO charge_left, at_a_price, amount_left
    FROM ledger WHERE request_id = charged.request_id;
  these := least(refunded, charge_left);
  IF these IS NULL OR these <= 0 THEN RETURN; END IF;
  of_these := least(these, at_a_price);
  -- A record costs whole micros, so the division has no remainder.
  PERFORM write_to_ledger(ROW(charged.request_id, 'refund', charged.organization_id, charged.project_id,
    charged.caller_id, charged.meter, -these, of_these - these,
    CASE WHEN of_these = 0 THEN 0 ELSE -(amount_left / at_a_price * of_these) END,
    charged.day, refunded_at, charged.idempotency, charged.for_request)::ledger);
END $$;
