-- Who may ask, and whose pixels collect.
CREATE TABLE organizations (
  organization_id uuid PRIMARY KEY,
  name text NOT NULL,
  secret_required boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  email text NOT NULL UNIQUE,
  -- argon2id
  password_hash text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE projects (
  project_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX projects_by_organization ON projects (organization_id);

CREATE TABLE pixels (
  pixel_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  -- Origins whose pages may send; empty means any.
  allowed_origins text[] NOT NULL DEFAULT '{}',
  -- PixelSettings and CollectorSettings (schemas/beacon.ts); keys not set have their default.
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pixels_by_project ON pixels (project_id);

CREATE TABLE api_keys (
  key_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  -- Null: every project of the organization.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  name text NOT NULL,
  -- All of the key that is ever shown again.
  key_prefix text NOT NULL,
  key_sha256 bytea NOT NULL UNIQUE,
  secret_sha256 bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);

-- Every process keeps the pixels in memory; a change is told to all of them at once.
CREATE FUNCTION tell_pixel_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pixels', coalesce(NEW.pixel_id, OLD.pixel_id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER pixels_changed AFTER INSERT OR UPDATE OR DELETE ON pixels
  FOR EACH ROW EXECUTE FUNCTION tell_pixel_change();
