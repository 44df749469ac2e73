/*
 * Returns how many members of a build were charged on a UTC day, through its pages or through another build
 * of the audience.
 */
CREATE OR REPLACE FUNCTION charged_today(of_build uuid, of_day date) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT (SELECT coalesce(sum(records), 0) FROM build_charges WHERE build_id = of_build AND day = of_day)
    + (SELECT coalesce(sum(upper(span) - lower(span)), 0) FROM unnest(
        (SELECT range_agg(keys) FROM build_carries WHERE build_id = of_build AND day = of_day)
        - coalesce((SELECT paid FROM build_charges WHERE build_id = of_build AND day = of_day), '{}')) AS span)
$$;
