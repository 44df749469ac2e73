/*
 * Records that the response to a request broke off after `handed_over` records, and refunds the undelivered
 * records. A charge without Idempotency-Key pays for one response. A charge with a key pays for a record
 * until every response that holds it has broken off before that record. So these requests pass the hashes of
 * the delivered records.
 */
CREATE OR REPLACE FUNCTION refund_response(organization uuid, broken_request_id uuid, broken_idempotency bytea,
  handed_over bigint, handed_over_hashes bigint[], refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  entry ledger;
  paid idempotent_charges;
BEGIN
  PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
  IF broken_idempotency IS NULL THEN
    -- The caller may repeat this refund.
    IF EXISTS (SELECT FROM ledger WHERE request_id = broken_request_id AND kind = 'refund') THEN RETURN; END IF;
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
