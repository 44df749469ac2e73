-- Who is in the builds of audiences. A partition for each build: one that nobody refers to is dropped at once and whole.
CREATE TABLE IF NOT EXISTS audience_members
(
    build_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    -- The place in the build's order, from 1: a page is a range of keys, and so is what was charged.
    key Int64 CODEC(Delta, ZSTD(1)),
    -- Of people: the hem as 256 bits, as in profile_rows. Of companies 0.
    hem_number UInt256,
    -- Of companies; of people empty.
    company_domain String CODEC(ZSTD(1))
)
ENGINE = {engine}MergeTree
PARTITION BY build_id
ORDER BY (build_id, key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How many events of a day meet an event leaf, for each cookie. PostgreSQL's table of this name says which run of a day
-- counts; after a month a day is counted anew, so that rows may go.
CREATE TABLE IF NOT EXISTS audience_leaf_days
(
    leaf_id UUID,
    day Date,
    run_id UUID,
    cookie_id UUID,
    organization_id UUID CODEC(ZSTD(1)),
    events UInt64 CODEC(ZSTD(1)),
    counted_at DateTime DEFAULT now() CODEC(ZSTD(1))
)
ENGINE = {engine}MergeTree
PARTITION BY toMonday(counted_at)
ORDER BY (leaf_id, day, run_id, cookie_id)
TTL counted_at + INTERVAL 40 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

-- Says whether a day's events are still the same: late ones, erasures and retention change it.
ALTER TABLE {events} ADD PROJECTION IF NOT EXISTS by_day
    (SELECT project_id, toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS day, count(),
            groupBitXor(cityHash64(event_id))
     GROUP BY project_id, day);
ALTER TABLE {events} MATERIALIZE PROJECTION by_day;
