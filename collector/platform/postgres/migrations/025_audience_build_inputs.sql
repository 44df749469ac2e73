-- What a completed build was made from: the next one looks only at people of whom something has changed since
-- (collector/audiences/builder/inputs.ts). Null where that cannot be told.
ALTER TABLE audience_builds ADD COLUMN inputs jsonb;
