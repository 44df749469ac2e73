-- Who runs the service, and so may see how all of it is. Given by `npx footfall operator` alone: an e-mail address would
-- not do, for whoever is invited with it first may have it.
ALTER TABLE users ADD COLUMN is_operator boolean NOT NULL DEFAULT false;
