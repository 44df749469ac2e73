/*
 * Refunds `refunded` records of a charge, once: first those that cost something, as if they had never been charged.
 * The account's row must be locked.
 */
CREATE OR REPLACE FUNCTION refund_records(charged ledger, refunded bigint, refunded_at timestamptz) RETURNS void
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
