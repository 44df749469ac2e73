-- Which versions of a pixel's identify secret are valid: one, and while it is being rotated the one before, too. The
-- secrets themselves are derived (access/identifySecrets.ts).
ALTER TABLE pixels
  ADD COLUMN identify_secret_newest integer NOT NULL DEFAULT 1,
  ADD COLUMN identify_secret_oldest integer NOT NULL DEFAULT 1;
