/*
 * Returns the keys of a build whose records are free now. They were charged on this UTC day by any build of
 * the audience, by a download, or by an identical request within 24 hours. An identical request has the same
 * Idempotency-Key.
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
