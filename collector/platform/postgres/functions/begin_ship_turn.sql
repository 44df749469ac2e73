/*
 * Begins a collector's turn to ship; the caller holds the advisory lock of turns. If other collectors are
 * active, it stores the hashes of the ids that this turn will ship. `left_open`: the previous turn did not
 * end. `hashes`: the ids of all turns since `seen`, this collector's last turn. Null if some of these turns are deleted.
 */
DROP FUNCTION IF EXISTS begin_ship_turn(uuid, bigint, bytea);
CREATE FUNCTION begin_ship_turn(own uuid, seen bigint, own_hashes bytea)
RETURNS TABLE (turn bigint, left_open boolean, hashes bytea)
LANGUAGE plpgsql AS $$
DECLARE
  before ship_turns;
  turns_kept constant int := 256;
BEGIN
  -- Other collectors need these rows after a crash of PostgreSQL; the end of a turn need not survive one.
  PERFORM set_config('synchronous_commit', 'on', true);
  SELECT * INTO STRICT before FROM ship_turns FOR UPDATE;
  UPDATE ship_turns SET turn = before.turn + 1, collector_id = own;
  DELETE FROM shipped_ids WHERE shipped_ids.turn <= before.turn - turns_kept;
  IF EXISTS (
    SELECT FROM collectors WHERE collector_id <> own AND reported_at > now() - interval '10 minutes'
  ) THEN
    INSERT INTO shipped_ids VALUES (before.turn + 1, own_hashes);
  END IF;
  RETURN QUERY
    SELECT before.turn + 1, before.collector_id IS NOT NULL,
      CASE WHEN count(*) = before.turn - seen THEN coalesce(string_agg(known.hashes, ''::bytea), '') END
    FROM shipped_ids AS known WHERE known.turn > seen AND known.turn <= before.turn;
END
$$;
