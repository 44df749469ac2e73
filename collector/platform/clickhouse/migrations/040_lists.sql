-- Who is in lists. A partition for each list: one that was deleted is dropped at once and whole. An import's rows count
-- once it is completed, which PostgreSQL says; rows that are inserted twice replace themselves.
CREATE TABLE IF NOT EXISTS list_members
(
    list_id UUID,
    import_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    -- Of lists of e-mails and hems: the hem as 256 bits, as in profile_rows. Of others 0.
    hem_number UInt256,
    -- Of lists of domains; of others empty.
    company_domain String CODEC(ZSTD(1)),
    -- Of lists of cookies; of others zero.
    cookie_id UUID CODEC(ZSTD(1))
)
ENGINE = {engine}ReplacingMergeTree
PARTITION BY list_id
ORDER BY (hem_number, company_domain, cookie_id, import_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Lines of imports that are no member, and why. What stood there is not kept.
CREATE TABLE IF NOT EXISTS list_rejected_lines
(
    list_id UUID,
    import_id UUID,
    -- From 1.
    line UInt64 CODEC(Delta, ZSTD(1)),
    reason LowCardinality(String)
)
ENGINE = {engine}ReplacingMergeTree
PARTITION BY list_id
ORDER BY (import_id, line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Where the lines of imports are inserted: each goes on to one of the two.
CREATE TABLE IF NOT EXISTS list_lines
(
    list_id UUID,
    import_id UUID,
    organization_id UUID,
    line UInt64,
    reason String,
    hem_number UInt256,
    company_domain String,
    cookie_id UUID
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS list_lines_members TO list_members AS
SELECT list_id, import_id, organization_id, hem_number, company_domain, cookie_id
FROM list_lines WHERE reason = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS list_lines_rejected TO list_rejected_lines AS
SELECT list_id, import_id, line, reason
FROM list_lines WHERE reason != '';
