/*
 * Begins a collector's lease to ship; the caller holds the advisory lock of the leases. If other collectors are
 * active, it stores the hashes of the ids that this lease will ship. `left_open`: the previous lease did not
 * end. `hashes`: the ids of all leases since `seen`, this collector's last lease. Null if some of these are deleted.
 */
DROP FUNCTION IF EXISTS begin_ship_lease(uuid, bigint, bytea);
CREATE FUNCTION begin_ship_lease(own uuid, seen bigint, own_hashes bytea)
RETURNS TABLE (lease bigint, left_open boolean, hashes bytea)
LANGUAGE plpgsql AS $$
DECLARE
  before ship_leases;
  leases_kept constant int := 256;
BEGIN
  -- Other collectors need these rows after a crash of PostgreSQL; the end of a lease need not survive one.
  PERFORM set_config('synchronous_commit', 'on', true);
  SELECT * INTO STRICT before FROM ship_leases FOR UPDATE;
  UPDATE ship_leases SET lease = before.lease + 1, collector_id = own;
  DELETE FROM shipped_ids WHERE shipped_ids.lease <= before.lease - leases_kept;
  IF EXISTS (
    SELECT FROM collectors WHERE collector_id <> own AND reported_at > now() - interval '10 minutes'
  ) THEN
    INSERT INTO shipped_ids VALUES (before.lease + 1, own_hashes);
  END IF;
  RETURN QUERY
    SELECT before.lease + 1, before.collector_id IS NOT NULL,
      CASE WHEN count(*) = before.lease - seen THEN coalesce(string_agg(known.hashes, ''::bytea), '') END
    FROM shipped_ids AS known WHERE known.lease > seen AND known.lease <= before.lease;
END
$$;
