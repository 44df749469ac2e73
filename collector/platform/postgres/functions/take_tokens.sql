/*
 * Takes one token from each bucket, or from none. Bucket i gains a token every intervals[i] seconds and holds
 * at most bursts[i]. `refused` is 0 if all were taken, else the index of the empty bucket; `wait_seconds` is
 * the time until it has a token. `tightest` is the index of the bucket with the fewest tokens left, and of
 * equal ones the slowest. `remaining` is the number of its tokens.
 */
CREATE OR REPLACE FUNCTION take_tokens(buckets text[], intervals double precision[], bursts double precision[],
  OUT refused integer, OUT wait_seconds double precision, OUT remaining integer, OUT tightest integer)
LANGUAGE plpgsql AS $$
DECLARE
  -- Read after the rows are locked, so that a second caller that waited for a bucket does not see an older
  -- time.
  now_seconds double precision;
  arrivals double precision[] := '{}';
  arrival_then double precision;
  remaining_here integer;
BEGIN
  refused := 0;
  wait_seconds := 0;
  remaining := 0;
  -- All callers pass buckets in the same order, which prevents deadlocks.
  FOR i IN 1 .. cardinality(buckets) LOOP
    LOOP
      SELECT arrival INTO arrival_then FROM rate_limits WHERE bucket = buckets[i] FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO rate_limits VALUES (buckets[i], 0) ON CONFLICT DO NOTHING;
    END LOOP;
    arrivals := arrivals || arrival_then;
  END LOOP;
  now_seconds := extract(epoch FROM clock_timestamp());
  FOR i IN 1 .. cardinality(buckets) LOOP
    arrivals[i] := greatest(arrivals[i], now_seconds) + intervals[i];
    IF arrivals[i] - now_seconds > intervals[i] * bursts[i] + 1e-6 THEN
      refused := i;
      tightest := i;
      remaining := 0;
      wait_seconds := arrivals[i] - now_seconds - intervals[i] * bursts[i];
      RETURN;
    END IF;
    remaining_here := floor(bursts[i] - (arrivals[i] - now_seconds) / intervals[i] + 1e-6);
    IF tightest IS NULL OR remaining_here < remaining
      OR (remaining_here = remaining AND intervals[i] > intervals[tightest]) THEN
      tightest := i;
      remaining := remaining_here;
    END IF;
  END LOOP;
  FOR i IN 1 .. cardinality(buckets) LOOP
    UPDATE rate_limits SET arrival = arrivals[i] WHERE bucket = buckets[i];
  END LOOP;
END $$;
