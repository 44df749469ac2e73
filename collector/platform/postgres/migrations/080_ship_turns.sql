-- Whoever brings events to ClickHouse does it in its turn: ship_turns counts them, and says who has begun one and not
-- ended it.
CREATE TABLE ship_turns (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  turn bigint NOT NULL,
  collector_id uuid
);
INSERT INTO ship_turns (turn) VALUES (0);

-- Hashes (8 bytes each) of the ids that a collector was about to bring in its turn, for the others. The last few turns.
CREATE TABLE shipped_ids (
  turn bigint PRIMARY KEY,
  hashes bytea NOT NULL
);
ALTER TABLE shipped_ids ALTER COLUMN hashes SET STORAGE EXTERNAL;
