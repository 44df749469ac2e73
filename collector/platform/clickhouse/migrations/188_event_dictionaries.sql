-- Pages, referrers and user agents repeat, and a dictionary stores each text once for a part. Where all texts differ, it
-- costs no space. ClickHouse rewrites these columns of stored events in the background. Reads convert the rest.
ALTER TABLE {events}
    MODIFY COLUMN user_agent LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    MODIFY COLUMN referrer_url LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    MODIFY COLUMN page_url LowCardinality(Nullable(String)) CODEC(ZSTD(1)),
    MODIFY COLUMN page_path LowCardinality(Nullable(String)) CODEC(ZSTD(1))
    SETTINGS alter_sync = 0;
