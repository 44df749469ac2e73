/*
 * The keys of a build whose records are free now: those charged on this UTC day, by this build or another one of the
 * audience, by a download, or for the same request with the same Idempotency-Key in the last 24 hours.
 */
CREATE OR REPLACE FUNCTION free_keys(of_build uuid, at timestamptz, of_idempotency bytea) RETURNS int8multirange
LANGUAGE sql STABLE AS $$
  SELECT coalesce(range_agg(keys), '{}') FROM (
    SELECT keys FROM build_charges
      WHERE build_id = of_build AND day IN ((at AT TIME ZONE 'UTC')::date, 'infinity')
    UNION ALL
    SELECT keys FROM build_carries WHERE build_id = of_build AND day = (at AT TIME ZONE 'UTC')::date
    UNION ALL
    SELECT keys FROM build_reads
      WHERE build_id = of_build AND idempotency = of_idempotency AND NOT is_broken AND read_at > at - interval '24 hours'
  ) AS free
$$;
