/*
 * Notes that a request gives records of a build and was charged for `charged_records` of them: until the day ends, or
 * for a download for good, they are free. Of a build that was deleted meanwhile nothing is noted. Its account's row
 * must be locked.
 */
CREATE OR REPLACE FUNCTION note_build_read(of_request uuid, of_build uuid, is_download boolean, at timestamptz,
  of_idempotency bytea, given int8multirange, were_free int8multirange, charged_records bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  of_day CONSTANT date := CASE WHEN is_download THEN 'infinity' ELSE (at AT TIME ZONE 'UTC')::date END;
BEGIN
  PERFORM 1 FROM audience_builds WHERE build_id = of_build FOR KEY SHARE;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO build_charges AS charged VALUES (of_build, of_day, given, charged_records)
    ON CONFLICT (build_id, day) DO UPDATE
    SET keys = charged.keys + excluded.keys, records = charged.records + excluded.records;
  INSERT INTO build_reads VALUES (of_request, of_build, of_day, at, of_idempotency, given, given - were_free)
    ON CONFLICT (request_id) DO NOTHING;
END $$;
