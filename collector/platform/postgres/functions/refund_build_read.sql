/*
 * Refunds records of a build whose response broke off. `asked_keys` are the keys that were not returned
 * (null: all). A record is refunded only if no other response returned it. One charge covers all reads of a
 * record that day, in this build or in a build that it was carried to.
 */
CREATE OR REPLACE FUNCTION refund_build_read(organization uuid, broken_request_id uuid, asked_keys bigint[],
  refunded_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  broken build_reads;
  paying build_reads;
  entry ledger;
  held int8multirange;
  unread int8multirange;
  refunded bigint;
BEGIN
  PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
  UPDATE build_reads SET is_broken = true WHERE request_id = broken_request_id AND NOT is_broken
    RETURNING * INTO broken;
  IF NOT FOUND THEN
    -- The build was deleted together with its reads.
    SELECT * INTO entry FROM ledger WHERE request_id = broken_request_id AND kind = 'charge'
      AND NOT EXISTS (SELECT FROM build_reads WHERE request_id = broken_request_id)
      AND NOT EXISTS (SELECT FROM ledger WHERE request_id = broken_request_id AND kind = 'refund');
    IF FOUND THEN PERFORM refund_records(entry, entry.records, refunded_at); END IF;
    RETURN;
  END IF;
  SELECT coalesce(range_agg(keys), '{}') INTO held FROM build_reads
    WHERE build_id = broken.build_id AND NOT is_broken
      AND (day IN (broken.day, 'infinity') OR broken.day = 'infinity');
  -- Another build returned some of the carried records. This function cannot tell which ones, so it refunds
  -- none of them.
  SELECT held + coalesce(range_agg(from_keys), '{}') INTO held FROM build_carries AS carried
    WHERE from_build_id = broken.build_id AND day = (broken.read_at AT TIME ZONE 'UTC')::date
      AND EXISTS (SELECT FROM build_reads AS other WHERE other.build_id = carried.build_id
        AND NOT other.is_broken AND other.keys && carried.keys
        AND (other.read_at AT TIME ZONE 'UTC')::date = carried.day);
  FOR paying IN
    SELECT * FROM build_reads WHERE build_id = broken.build_id AND day = broken.day AND paid && broken.keys
  LOOP
    unread := paying.paid * broken.keys - held;
    CONTINUE WHEN isempty(unread);
    SELECT * INTO entry FROM ledger WHERE request_id = paying.request_id AND kind = 'charge';
    IF asked_keys IS NULL THEN
      CONTINUE WHEN unread <> paying.paid;
      refunded := entry.records;
    ELSE
      SELECT count(*) INTO refunded FROM unnest(asked_keys) AS key WHERE unread @> key;
    END IF;
    PERFORM refund_records(entry, refunded, refunded_at);
    UPDATE build_reads SET paid = paid - unread WHERE request_id = paying.request_id;
    UPDATE build_charges SET keys = keys - unread, records = records - refunded
      WHERE build_id = broken.build_id AND day = broken.day;
    UPDATE build_charges SET paid = build_charges.paid - unread
      WHERE build_id = broken.build_id AND day = (paying.read_at AT TIME ZONE 'UTC')::date;
    DELETE FROM build_carries
      WHERE from_build_id = broken.build_id AND day = (paying.read_at AT TIME ZONE 'UTC')::date
        AND from_keys && unread;
  END LOOP;
END $$;
