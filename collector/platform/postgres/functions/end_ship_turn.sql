/* Ends a collector's turn: what it shipped is in ClickHouse. Whoever waits for the advisory lock is next. */
CREATE OR REPLACE FUNCTION end_ship_turn(turns_lock bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE ship_turns SET collector_id = NULL;
  SELECT pg_advisory_unlock(turns_lock);
$$;
