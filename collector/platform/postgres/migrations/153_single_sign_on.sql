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

-- Who the member is at the organization's provider. Null: has not signed in there.
ALTER TABLE members
  ADD COLUMN provider_issuer text,
  ADD COLUMN provider_subject text,
  ADD CONSTRAINT members_provider_key UNIQUE (organization_id, provider_issuer, provider_subject),
  ADD CHECK ((provider_issuer IS NULL) = (provider_subject IS NULL));

-- A provider speaks for one organization, so its sessions belong to a member and never to the user of the same address.
ALTER TABLE sessions
  ALTER COLUMN user_id DROP NOT NULL,
  ADD COLUMN member_id uuid REFERENCES members ON DELETE CASCADE,
  ADD CHECK ((user_id IS NULL) <> (member_id IS NULL));
CREATE INDEX sessions_by_member ON sessions (member_id);
