/*
 * Ends a collector's turn: its events are in ClickHouse. The next collector can take the advisory lock.
 * `still_unsettled`: the shards, from 0, on which an insert may still run.
 */
DROP FUNCTION IF EXISTS end_ship_turn(bigint);
CREATE OR REPLACE FUNCTION end_ship_turn(turns_lock bigint, still_unsettled integer[] DEFAULT '{}') RETURNS void
LANGUAGE sql AS $$
  UPDATE ship_turns SET collector_id = NULL, unsettled_shards = still_unsettled;
  SELECT pg_advisory_unlock(turns_lock);
$$;
