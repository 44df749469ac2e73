/* Ends a collector's lease: its events are in ClickHouse. The next collector can take the advisory lock. */
CREATE OR REPLACE FUNCTION end_ship_lease(leases_lock bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE ship_leases SET collector_id = NULL;
  SELECT pg_advisory_unlock(leases_lock);
$$;
