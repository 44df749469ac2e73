-- Links by which a user chooses a new password; of the newest alone, once, and not for long.
CREATE TABLE password_resets (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  token_sha256 bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
