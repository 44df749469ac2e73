-- The exclusive right to work that takes longer than a transaction should: the holder renews its row until it ends.
-- After `expires_at` another process may take it over, with a token of its own.
CREATE TABLE leases (
  name text PRIMARY KEY,
  token uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
