-- From when answers show the count and the bucket counts of a build: midnight UTC if the allowance of free answers was used
-- up, unless the build is read before.
ALTER TABLE audience_builds ADD COLUMN numbers_from timestamptz NOT NULL DEFAULT now();
ALTER TABLE audience_builds DROP COLUMN singles_out;
