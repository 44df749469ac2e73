-- How people and programs identify themselves, what limits them, and the log of what they change.

CREATE TABLE api_keys (
  key_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- Null: every project of the organization.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  name text NOT NULL,
  -- The only part of the key that is shown after its creation.
  key_prefix text NOT NULL,
  key_sha256 bytea NOT NULL UNIQUE,
  -- Null: a key without a secret, which is valid only while its organization requires none.
  secret_sha256 bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  created_by text,
  last_used_at timestamptz,
  -- Fixed at creation, and never above the role of the key's maker.
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'write', 'read')),
  -- The member who is responsible for the key. Null: the operator, or somebody who is no longer a member.
  created_by_member_id uuid REFERENCES members ON DELETE SET NULL,
  -- Null: the key is valid until it is revoked.
  expires_at timestamptz,
  -- A key of one project has at most the role admin.
  CHECK (project_id IS NULL OR role <> 'owner')
);
CREATE INDEX api_keys_by_organization ON api_keys (organization_id);
CREATE INDEX api_keys_by_maker ON api_keys (created_by_member_id);

-- Browsers in which a user is signed in. An identity provider speaks for one organization, so its sessions belong to a
-- member and never to the user of the same address.
CREATE TABLE sessions (
  session_sha256 bytea PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  user_id uuid REFERENCES users ON DELETE CASCADE,
  member_id uuid REFERENCES members ON DELETE CASCADE,
  -- Names the session where the user ends it.
  session_id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  -- To the minute.
  last_used_at timestamptz NOT NULL DEFAULT now(),
  -- The browser's User-Agent and address at sign-in. Null: not recorded.
  user_agent text,
  address text,
  CHECK ((user_id IS NULL) <> (member_id IS NULL))
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_member ON sessions (member_id);

-- Links with which a user sets a new password. Only a user's newest link is valid, once, until it expires.
CREATE TABLE password_resets (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  token_sha256 bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);

-- Secrets of one-time codes (TOTP, RFC 6238), the second factor of a sign-in.
CREATE TABLE second_factors (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  -- Sealed for "second_factor:USER_ID".
  secret text NOT NULL,
  -- Null: set-up has begun. Sign-in asks for codes only after the user has entered a first one.
  confirmed_at timestamptz,
  -- The time step of the last accepted code. Codes of this step or an earlier one are refused.
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Codes for users who have lost their second factor. Each is valid once.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES second_factors ON DELETE CASCADE,
  code_sha256 bytea NOT NULL,
  PRIMARY KEY (user_id, code_sha256)
);

-- New e-mail addresses that users have requested and not confirmed yet.
CREATE TABLE email_changes (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  email text NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);

-- How an organization's members sign in through its own identity provider (OpenID Connect).
CREATE TABLE single_sign_on (
  organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
  -- What people enter on the sign-in page to reach this provider.
  sign_in_name text NOT NULL UNIQUE,
  provider_name text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  -- Sealed for "single_sign_on:ORGANIZATION_ID".
  client_secret text NOT NULL,
  -- The provider speaks only for addresses of these domains.
  email_domains text[] NOT NULL,
  group_claim text NOT NULL,
  -- [{ "group", "role" }]
  group_roles jsonb NOT NULL,
  -- The role of people in none of these groups. Null: they may not sign in.
  default_role text CHECK (default_role IN ('admin', 'member')),
  -- Whether passwords no longer open the organization, except for its emergency owner.
  required boolean NOT NULL,
  -- The owner who always may sign in with a password.
  emergency_member_id uuid NOT NULL REFERENCES members,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX single_sign_on_by_emergency_member ON single_sign_on (emergency_member_id);

-- Sign-ins that a browser has begun at a provider. Each row is used once.
CREATE TABLE provider_sign_ins (
  state_sha256 bytea PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES single_sign_on ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX provider_sign_ins_by_organization ON provider_sign_ins (organization_id);

-- Secrets that the service generates and all its processes share, such as the key of legacy tokens.
CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  value bytea NOT NULL
);

-- Token buckets of the generic cell rate algorithm. Unlogged: after a crash of PostgreSQL every bucket is full.
CREATE UNLOGGED TABLE rate_limits (
  bucket text PRIMARY KEY,
  -- Theoretical arrival time: when the bucket will be full, in seconds of this server's clock.
  arrival double precision NOT NULL
) WITH (fillfactor = 50);

-- The exclusive right to work that takes longer than a transaction should: the holder renews its row until it ends.
-- After `expires_at` another process may take it over, with a token of its own.
CREATE TABLE leases (
  name text PRIMARY KEY,
  token uuid NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The newest backup, for the operator page and for the backup before a migration.
CREATE TABLE last_backup (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  backup_id text NOT NULL,
  -- A directory, or s3://BUCKET/PREFIX.
  place text NOT NULL,
  created_at timestamptz NOT NULL,
  completed_at timestamptz NOT NULL DEFAULT now(),
  complete_until timestamptz,
  -- When all objects that it kept from earlier backups were last read.
  verified_at timestamptz NOT NULL,
  bytes bigint NOT NULL,
  damaged_objects integer NOT NULL
);

-- Changes that members and operators made. Entries remain after their objects are deleted.
CREATE TABLE audit_log (
  entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  -- { kind, id, name }
  actor jsonb NOT NULL,
  action text NOT NULL,
  object_kind text NOT NULL,
  object_id text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_by_organization ON audit_log (organization_id, entry_id DESC);
-- Counts an organization's exports of personal data per day.
CREATE INDEX audit_log_exports ON audit_log (organization_id, at) WHERE action = 'subject.export';
