-- Whether the chunk after done_key, which was charged before, has reached its destination: what did stays charged
-- though nothing more is sent.
ALTER TABLE export_runs ADD COLUMN chunk_sent boolean NOT NULL DEFAULT false;
