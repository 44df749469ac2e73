-- Which hashed e-mail address a cookie belongs to, as observed on one organization's own sites.
CREATE TABLE IF NOT EXISTS identity_links
(
    organization_id UUID,
    cookie_id UUID,
    hem FixedString(64),
    pixel_id UUID,
    observed_at DateTime64(3, 'UTC'),
    spool_id UUID,
    seq UInt64
)
ENGINE = {engine}ReplacingMergeTree(observed_at)
ORDER BY (organization_id, cookie_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
