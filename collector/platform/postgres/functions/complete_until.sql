/*
 * Returns the time, epoch milliseconds, before which all received events are in ClickHouse; null if there is
 * no collector. Released collectors do not delay it. If all collectors are released, the latest of their
 * watermarks counts.
 */
CREATE OR REPLACE FUNCTION complete_until() RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT coalesce(min(complete_until_ms) FILTER (WHERE released_at IS NULL), max(complete_until_ms))
  FROM collectors
$$;
