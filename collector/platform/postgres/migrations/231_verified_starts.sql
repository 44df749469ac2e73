-- The start times of ClickHouse's servers, seconds since 1970, that have all committed messages of the partition. While the
-- same servers run, a new owner need not search for the rows.
ALTER TABLE event_log_partitions ADD COLUMN clickhouse_starts jsonb;
