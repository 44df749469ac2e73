-- Daily figures that the operator imported from another product. They are read-only history of days before the first
-- event of the project. An empty dimension has the figures of the complete day. A repeated import replaces its rows.
CREATE TABLE IF NOT EXISTS imported_days
(
    project_id UUID,
    source LowCardinality(String),
    dimension LowCardinality(String),
    date Date,
    value String CODEC(ZSTD(1)),
    visitors UInt64 CODEC(ZSTD(1)),
    page_views UInt64 CODEC(ZSTD(1)),
    sessions UInt64 CODEC(ZSTD(1)),
    imported_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(imported_at)
ORDER BY (project_id, source, dimension, date, value);
