-- Tenants: organizations, the people who are members of them, and their projects.
-- Triggers and functions are in ../functions.

CREATE TABLE organizations (
  organization_id uuid PRIMARY KEY,
  name text NOT NULL,
  -- Whether API keys need their secret.
  secret_required boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Counts changes, here and in other tables: two people who edit at once notice each other.
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- A person who signs in, with one e-mail address and password, and is a member of one or more organizations.
CREATE TABLE users (
  user_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL UNIQUE,
  -- argon2id
  password_hash text NOT NULL,
  -- Tokens issued earlier are invalid.
  password_changed_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Operators see the state of the service as a whole. Only `npx footfall-server operator` sets this: an e-mail address does
  -- not suffice, because the first person invited with an address may own it.
  is_operator boolean NOT NULL DEFAULT false,
  -- Since when the user is known to receive mail at their address. Null: not proven.
  email_proven_at timestamptz,
  -- When the user last ended all other sessions. Tokens issued earlier are invalid.
  signed_out_at timestamptz
);

-- The membership of a user in an organization, from the invitation on.
CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  name text,
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now(),
  invitation_sha256 bytea UNIQUE,
  invitation_expires_at timestamptz,
  -- Null until the invitation is accepted.
  user_id uuid REFERENCES users ON DELETE CASCADE,
  -- The organization that the user used last is the one shown after sign-in.
  last_used_at timestamptz,
  -- Whether the invitation's link was sent by mail, and shown to nobody else.
  invitation_by_mail boolean NOT NULL DEFAULT false,
  -- Who the member is at the organization's identity provider. Null: has not signed in there.
  provider_issuer text,
  provider_subject text,
  CONSTRAINT members_email_key UNIQUE (organization_id, email),
  CONSTRAINT members_provider_key UNIQUE (organization_id, provider_issuer, provider_subject),
  CHECK ((provider_issuer IS NULL) = (provider_subject IS NULL))
);
CREATE INDEX members_by_organization ON members (organization_id);
CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE projects (
  project_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  name text NOT NULL,
  -- The time zone (IANA) whose days, weeks and months the figures of the project use.
  time_zone text NOT NULL DEFAULT 'UTC',
  -- The networks, hosts and paths whose events the project does not store (schemas/ignored.ts).
  ignored_networks text[] NOT NULL DEFAULT '{}',
  ignored_hosts text[] NOT NULL DEFAULT '{}',
  ignored_paths text[] NOT NULL DEFAULT '{}',
  -- Hosts that visitors come back from, such as a sign-in page: they start no session (analytics/hits/transitHosts.ts).
  transit_hosts text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX projects_by_organization ON projects (organization_id);
CREATE INDEX projects_with_ignored_traffic ON projects (project_id)
  WHERE ignored_networks <> '{}' OR ignored_hosts <> '{}' OR ignored_paths <> '{}';

CREATE TABLE project_members (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  member_id uuid NOT NULL REFERENCES members ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, member_id)
);
CREATE INDEX project_members_by_member ON project_members (member_id);
