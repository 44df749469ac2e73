-- A person signs in once, by one e-mail address and password, and may be a member of several organizations.
CREATE TABLE users (
  user_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL UNIQUE,
  -- argon2id
  password_hash text NOT NULL,
  -- Tokens made before it are good no longer.
  password_changed_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO users (user_id, email, password_hash, password_changed_at, created_at)
SELECT member_id, email, password_hash, password_changed_at, created_at FROM members
WHERE password_hash IS NOT NULL;

ALTER TABLE members
  -- Null until the invitation is accepted.
  ADD COLUMN user_id uuid REFERENCES users ON DELETE CASCADE,
  -- Of the organizations of a user, the one last turned to is shown after sign-in.
  ADD COLUMN last_used_at timestamptz,
  DROP CONSTRAINT members_email_key,
  ADD CONSTRAINT members_email_key UNIQUE (organization_id, email);
UPDATE members SET user_id = member_id WHERE password_hash IS NOT NULL;
ALTER TABLE members DROP COLUMN password_hash, DROP COLUMN password_changed_at;
CREATE INDEX members_by_user ON members (user_id);

ALTER TABLE sessions ADD COLUMN user_id uuid REFERENCES users ON DELETE CASCADE;
UPDATE sessions SET user_id = member_id;
ALTER TABLE sessions ALTER COLUMN user_id SET NOT NULL, DROP COLUMN member_id;
CREATE INDEX sessions_by_user ON sessions (user_id);

-- Who is a member nowhere any more is forgotten, with sessions and password.
CREATE FUNCTION forget_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM users WHERE user_id = OLD.user_id
    AND NOT EXISTS (SELECT FROM members WHERE members.user_id = OLD.user_id);
  RETURN NULL;
END $$;
CREATE TRIGGER members_deleted AFTER DELETE ON members
  FOR EACH ROW WHEN (OLD.user_id IS NOT NULL) EXECUTE FUNCTION forget_user();
