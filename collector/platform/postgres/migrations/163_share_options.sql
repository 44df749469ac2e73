-- What a share link shows and where, and its secret, sealed, so that admins can copy the link again.
ALTER TABLE share_links
  -- Null: created before secrets were sealed, or without FOOTFALL_SECRET_KEY.
  ADD COLUMN sealed_secret text,
  -- The filter of a segment at the time of creation: later changes of the segment show nobody more.
  ADD COLUMN filter text,
  ADD COLUMN segment_name text,
  ADD COLUMN has_goals boolean NOT NULL DEFAULT false,
  -- argon2id. Null: no password.
  ADD COLUMN password_hash text,
  -- The origins whose pages may show the link in a frame.
  ADD COLUMN embed_origins text[] NOT NULL DEFAULT '{}';
