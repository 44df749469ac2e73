/*
 * Returns, for each other build of the audience on the same meter, the keys that were charged on this UTC day and are
 * not carried to this build yet. The caller looks up these people in this build. Null: there are none.
 */
CREATE OR REPLACE FUNCTION keys_to_carry(of_build uuid, at timestamptz) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(build_id, missing) FROM (
    SELECT charged.build_id, charged.paid - coalesce(carried.from_keys, '{}') AS missing
    FROM audience_builds AS build
    JOIN build_charges AS charged ON charged.audience_id = build.audience_id
      AND charged.day = (at AT TIME ZONE 'UTC')::date AND charged.build_id <> of_build
    JOIN audience_builds AS other ON other.build_id = charged.build_id AND other.is_predictive = build.is_predictive
    LEFT JOIN build_carries AS carried ON carried.build_id = of_build AND carried.day = charged.day
      AND carried.from_build_id = charged.build_id
    WHERE build.build_id = of_build
  ) AS others WHERE NOT isempty(missing)
$$;
