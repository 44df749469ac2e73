-- How many of the added rows a lookup returns. They are shown from `numbers_from` on: later than the end of the import if
-- the allowance of free answers was used up.
ALTER TABLE list_imports ADD COLUMN rows_matched bigint NOT NULL DEFAULT 0;
ALTER TABLE list_imports ADD COLUMN numbers_from timestamptz NOT NULL DEFAULT now();
-- Nobody counted the matches of earlier imports.
UPDATE list_imports SET numbers_from = 'infinity' WHERE status = 'completed';
