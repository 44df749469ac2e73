-- The free answers about people that an organization received on a UTC day: one row for each question, however often it
-- was asked. Past days are deleted.
CREATE TABLE free_answers (
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  day date NOT NULL,
  -- sha256 of the question.
  question bytea NOT NULL,
  PRIMARY KEY (organization_id, day, question)
);

-- Only operators set it. Null: FOOTFALL_FREE_ANSWERS_PER_DAY.
ALTER TABLE billing_accounts ADD COLUMN free_answers_per_day bigint CHECK (free_answers_per_day >= 0);
