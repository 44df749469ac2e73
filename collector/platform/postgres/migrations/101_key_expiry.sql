-- A key may end by itself. Null: it serves until it is revoked.
ALTER TABLE api_keys ADD COLUMN expires_at timestamptz;
