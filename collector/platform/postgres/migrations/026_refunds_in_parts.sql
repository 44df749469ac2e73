-- A charge is in the ledger once. What pays for records that several answers were to give is refunded as each of them
-- breaks off.
ALTER TABLE ledger DROP CONSTRAINT ledger_pkey;
CREATE UNIQUE INDEX ledger_charges ON ledger (request_id) WHERE kind = 'charge';
CREATE INDEX ledger_refunds ON ledger (request_id) WHERE kind = 'refund';
