-- What was asked of the API, for the log of requests: no secrets, no values of parameters that may tell of people. What
-- a request was charged stands in PostgreSQL's ledger. Kept for thirty days.
CREATE TABLE IF NOT EXISTS api_requests
(
    organization_id UUID,
    at DateTime64(3, 'UTC'),
    request_id UUID,
    -- The project of the key, or the one that the request names.
    project_id Nullable(UUID),
    caller_kind LowCardinality(String),
    caller_id UUID,
    mode LowCardinality(String),
    method LowCardinality(String),
    -- The pattern of the route: /api/v1/audiences/:audience_id
    route LowCardinality(String),
    -- What was asked for: ids as they were given, of other values only their names.
    target String CODEC(ZSTD(1)),
    status UInt16,
    -- Of answers other than 2xx, the error; else empty.
    error LowCardinality(String),
    latency_ms UInt32
)
ENGINE = {engine}MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (organization_id, at, request_id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000;
