-- The log of requests lists an organization's charges, newest first.
CREATE INDEX ledger_charges_by_time ON ledger (organization_id, at DESC, request_id DESC) WHERE kind = 'charge';
