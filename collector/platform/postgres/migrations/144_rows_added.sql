-- How many members an import added. How many of them the identity graph knew is sold, and no longer counted.
ALTER TABLE list_imports ADD COLUMN rows_added bigint NOT NULL DEFAULT 0;
UPDATE list_imports SET rows_added = rows_matched + rows_unmatched;
ALTER TABLE list_imports DROP COLUMN rows_matched, DROP COLUMN rows_unmatched;
ALTER TABLE list_imports ADD CHECK (rows_total = rows_added + rows_duplicate + rows_rejected);
