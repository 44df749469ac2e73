/*
 * Begins a collector's turn to ship; who calls it holds the advisory lock of turns. Where others collect, too, it
 * leaves them the hashes of the ids that are about to be shipped. `left_open`: the turn before was never ended.
 * `hashes`: of the ids of all turns since `seen`, the last one of this collector; null when not all are known any more.
 */
CREATE OR REPLACE FUNCTION begin_ship_turn(own uuid, seen bigint, own_hashes bytea)
RETURNS TABLE (turn bigint, left_open boolean, hashes bytea)
LANGUAGE plpgsql AS $$
DECLARE
  before ship_turns;
  turns_kept constant int := 256;
BEGIN
  -- What others must know has to outlive a crash of PostgreSQL; that a turn has ended need not.
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
