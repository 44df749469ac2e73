-- When nothing of what is stored was left for the first time: from then on an erasure waits for what was on its way.
ALTER TABLE erasures ADD COLUMN emptied_at timestamptz;
