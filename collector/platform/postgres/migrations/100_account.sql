-- A user sees where they are signed in, and ends sessions one by one.
ALTER TABLE sessions
  ADD COLUMN session_id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  -- To the minute.
  ADD COLUMN last_used_at timestamptz NOT NULL DEFAULT now(),
  -- The browser's User-Agent and the address that it signed in from; null for sessions of before.
  ADD COLUMN user_agent text,
  ADD COLUMN address text;

-- What makes the codes that a user signs in with besides the password (TOTP, RFC 6238).
CREATE TABLE second_factors (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  -- Sealed for "second_factor:USER_ID".
  secret text NOT NULL,
  -- Null: begun, and not asked for until a first code has shown that the user has it.
  confirmed_at timestamptz,
  -- The time step of the last code that was accepted: none of it, or from before it, is accepted again.
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- For whoever has lost what makes the codes; each is good once.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES second_factors ON DELETE CASCADE,
  code_sha256 bytea NOT NULL,
  PRIMARY KEY (user_id, code_sha256)
);

-- E-mail addresses that a user wants instead of theirs, and has not shown to be theirs yet.
CREATE TABLE email_changes (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  email text NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
