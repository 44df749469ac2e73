-- What reads need to leave people alone who want that (definitions/views.sql reads it).

-- By it a visitor's rejected events are found when they are to be erased.
ALTER TABLE rejected_events ADD COLUMN IF NOT EXISTS cookie_id UUID AFTER pixel_id;

-- PostgreSQL's list (008_privacy.sql there).
CREATE TABLE IF NOT EXISTS opt_outs
(
    -- The zero uuid: everywhere.
    organization_id UUID,
    -- One of the two; the other is empty or the zero uuid.
    hem String,
    cookie_id UUID,
    is_active Bool,
    changed_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = {engine}ReplacingMergeTree(changed_at)
ORDER BY (organization_id, hem, cookie_id);
