/* Ends a collector's turn: its events are in ClickHouse. The next collector can take the advisory lock. */
DROP FUNCTION IF EXISTS end_ship_turn(bigint, integer[]);
CREATE OR REPLACE FUNCTION end_ship_turn(turns_lock bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE ship_turns SET collector_id = NULL;
  SELECT pg_advisory_unlock(turns_lock);
$$;
