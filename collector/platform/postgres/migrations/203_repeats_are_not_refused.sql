-- A refused repeat has no consequence for later repeats: numbers are free.
ALTER TABLE idempotent_charges DROP COLUMN refused_at;
