/*
 * Records that a request returns records of a build and was charged for `charged_records` of them. These
 * records are free until the day ends, and after a download permanently. From now on answers show the
 * numbers of the build, and the matches of its list. Records nothing if the build was deleted meanwhile. The account's row must be locked.
 */
CREATE OR REPLACE FUNCTION note_build_read(of_request uuid, of_build uuid, is_download boolean, at timestamptz,
  of_idempotency bytea, given int8multirange, were_free int8multirange, charged_records bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  today CONSTANT date := (at AT TIME ZONE 'UTC')::date;
  of_audience uuid;
BEGIN
  SELECT audience_id INTO of_audience FROM audience_builds WHERE build_id = of_build FOR KEY SHARE;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE audience_builds SET numbers_from = now() WHERE build_id = of_build AND numbers_from > now();
  -- An export of a list reads a build of the list's audience.
  UPDATE list_imports SET numbers_from = now() FROM audiences
    WHERE audiences.audience_id = of_audience AND list_imports.list_id = audiences.list_id
      AND numbers_from > now() AND numbers_from < 'infinity';
  INSERT INTO build_charges AS charged (build_id, day, audience_id, keys, records, paid)
    -- Records that another build was charged for are free for as long as that charge remains.
    SELECT of_build, today, of_audience, given - coalesce(
        (SELECT range_agg(keys) FROM build_carries WHERE build_id = of_build AND day = today), '{}'),
      charged_records, given - were_free WHERE NOT is_download
    UNION ALL
    SELECT of_build, date 'infinity', of_audience, given, charged_records, int8multirange() WHERE is_download
    UNION ALL
    SELECT of_build, today, of_audience, int8multirange(), 0, given - were_free WHERE is_download
    ON CONFLICT (build_id, day) DO UPDATE
    SET keys = charged.keys + excluded.keys, records = charged.records + excluded.records,
      paid = charged.paid + excluded.paid;
  INSERT INTO build_reads VALUES (of_request, of_build, CASE WHEN is_download THEN 'infinity' ELSE today END, at,
      of_idempotency, given, given - were_free)
    ON CONFLICT (request_id) DO NOTHING;
END $$;
