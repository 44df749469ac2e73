-- When each pixel was heard of last, and whether its silence was told.
CREATE TABLE pixel_voices (
  pixel_id uuid PRIMARY KEY REFERENCES pixels ON DELETE CASCADE,
  last_event_at timestamptz NOT NULL,
  -- Null while it speaks.
  silence_told_at timestamptz
);
-- Since when pixels are listened to without a gap: what was not heard before that proves nothing.
CREATE TABLE pixel_listening (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  since timestamptz NOT NULL,
  last_at timestamptz NOT NULL
);
