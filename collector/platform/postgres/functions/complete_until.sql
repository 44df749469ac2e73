/*
 * Everything that any collector received before this time, epoch milliseconds, is in ClickHouse; null without any
 * collector. Released collectors hold nothing back: only when all are released does the latest of their marks count.
 */
CREATE OR REPLACE FUNCTION complete_until() RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT coalesce(min(complete_until_ms) FILTER (WHERE released_at IS NULL), max(complete_until_ms))
  FROM collectors
$$;
