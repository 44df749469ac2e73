-- The API request that a charge belongs to, if it has an id of its own: each chunk of an export is a charge.
ALTER TABLE ledger ADD COLUMN for_request uuid;
CREATE INDEX ledger_of_request ON ledger (for_request) WHERE for_request IS NOT NULL;
ALTER TABLE export_runs ADD COLUMN request_id uuid;
