/*
 * Takes one of an organization's free answers of a UTC day. `outcome` is `taken`, `repeated` if the question was asked
 * on this day before, or `refused` if the organization has received `most` answers.
 */
CREATE OR REPLACE FUNCTION take_free_answer(organization uuid, on_day date, asked bytea, default_most bigint,
  OUT outcome text, OUT most bigint)
LANGUAGE plpgsql AS $$
BEGIN
  most := coalesce((SELECT free_answers_per_day FROM billing_accounts WHERE organization_id = organization), default_most);
  outcome := 'repeated';
  IF EXISTS (
    SELECT FROM free_answers WHERE organization_id = organization AND day = on_day AND question = asked AND is_repeated
  ) THEN
    RETURN;
  END IF;
  -- Of several callers, each counts the rows of the previous ones.
  PERFORM pg_advisory_xact_lock(hashtextextended('free_answers ' || organization, 0));
  UPDATE free_answers SET is_repeated = true
    WHERE organization_id = organization AND day = on_day AND question = asked;
  IF FOUND THEN
    RETURN;
  END IF;
  IF (SELECT count(*) FROM free_answers WHERE organization_id = organization AND day = on_day) >= most THEN
    outcome := 'refused';
    RETURN;
  END IF;
  INSERT INTO free_answers VALUES (organization, on_day, asked);
  outcome := 'taken';
END $$;
