-- A record is charged once a day whichever build of its audience gives it, so a build looks for what others were charged for.
ALTER TABLE build_charges ADD COLUMN audience_id uuid,
  -- The keys charged on this day, by pages and by downloads alike; `keys` also has those that were given for nothing.
  ADD COLUMN paid int8multirange NOT NULL DEFAULT '{}';
UPDATE build_charges SET audience_id = build.audience_id
  FROM audience_builds AS build WHERE build.build_id = build_charges.build_id;
ALTER TABLE build_charges ALTER COLUMN audience_id SET NOT NULL;
INSERT INTO build_charges AS charged (build_id, day, audience_id, keys, records, paid)
  SELECT build_id, (read_at AT TIME ZONE 'UTC')::date, audience_id, '{}', 0, range_agg(paid)
  FROM build_reads JOIN audience_builds USING (build_id) GROUP BY 1, 2, 3
  ON CONFLICT (build_id, day) DO UPDATE SET paid = excluded.paid;
CREATE INDEX build_charges_by_audience ON build_charges (audience_id, day);

-- The members of a build whom another build of the audience was charged for that day: they are free here, too.
CREATE TABLE build_carries (
  build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  day date NOT NULL,
  from_build_id uuid NOT NULL REFERENCES audience_builds ON DELETE CASCADE,
  -- Keys of the other build that were looked for.
  from_keys int8multirange NOT NULL,
  -- Keys of this build at which the same people lie.
  keys int8multirange NOT NULL,
  PRIMARY KEY (build_id, day, from_build_id)
);
CREATE INDEX build_carries_by_source ON build_carries (from_build_id, day);
