/*
 * Records the keys in this build of people whom another build of the audience was charged for on a UTC day.
 * Keys that were refunded meanwhile are not recorded; the caller looks them up again.
 */
CREATE OR REPLACE FUNCTION carry_keys(organization uuid, of_build uuid, at timestamptz, from_build uuid,
  of_keys int8multirange, here int8multirange) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  of_day CONSTANT date := (at AT TIME ZONE 'UTC')::date;
BEGIN
  PERFORM 1 FROM billing_accounts WHERE organization_id = organization FOR NO KEY UPDATE;
  -- The lock prevents the deletion of either build before the row is inserted.
  PERFORM 1 FROM audience_builds WHERE build_id IN (of_build, from_build) ORDER BY build_id FOR KEY SHARE;
  INSERT INTO build_carries AS carried
    SELECT of_build, of_day, build_id, of_keys, here FROM build_charges
    WHERE build_id = from_build AND day = of_day AND paid @> of_keys
      AND EXISTS (SELECT FROM audience_builds WHERE build_id = of_build)
    ON CONFLICT (build_id, day, from_build_id) DO UPDATE
    SET from_keys = carried.from_keys + excluded.from_keys, keys = carried.keys + excluded.keys;
END $$;
