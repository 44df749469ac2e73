-- What collectors receive: events, and the events and beacons that they turn away; requests to the API.
-- Each table is replaced by its Replicated… form where servers are replicas (../replicated.ts).

-- One row for each event. The readable columns are those of the field table (schemas/fields.ts); a start adds the
-- columns that it lacks. A page of a project's newest events reads the end of the primary key.
CREATE TABLE IF NOT EXISTS {events}
(
    organization_id UUID,
    {event_columns},
    -- The row's position in a collector's spool, by which a shipped batch is found again after a crash.
    spool_id UUID,
    seq UInt64 CODEC(Delta, ZSTD(1)),
    INDEX event_type_set event_type TYPE set(16) GRANULARITY 4,
    INDEX cookie_id_bloom cookie_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1,
    -- Tells the shipper whether an event is stored already, whatever its time.
    PROJECTION by_event_id (SELECT event_id, project_id ORDER BY event_id),
    -- The projects in which an organization has events: reads of a whole organization use it to read by primary key.
    PROJECTION by_organization
        (SELECT organization_id, project_id GROUP BY organization_id, project_id),
    -- What campaigns did and cost each day. Exact, because a projection always has the rows of its table.
    PROJECTION by_campaign
        (SELECT organization_id, project_id, source, campaign_id, event_type,
                toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC')) AS date, count(), sum(spend)
         GROUP BY organization_id, project_id, source, campaign_id, event_type, date),
    -- Tells whether the events of an hour, and so of a day, are still the same. Late events, erasures and retention
    -- change them.
    PROJECTION by_hour
        (SELECT project_id, intDiv(ts_millis, 3600000) AS hour, source, count(), groupBitXor(cityHash64(event_id))
         GROUP BY project_id, hour, source)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(ts_millis, 'UTC'))
ORDER BY (project_id, ts_millis, event_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Events and whole beacons that the collector rejected, with the reason. Kept for 30 days.
CREATE TABLE IF NOT EXISTS rejected_events
(
    received_at DateTime64(3, 'UTC'),
    organization_id UUID,
    project_id UUID,
    pixel_id UUID,
    -- Finds a visitor's rejected events for an erasure.
    cookie_id UUID,
    event_id Nullable(String),
    event_type Nullable(String),
    -- The error that answered a rejected beacon. Empty: the event alone was rejected.
    refusal LowCardinality(String) DEFAULT '',
    path String,
    message String,
    -- JSON as it was sent, cut to 4 KiB.
    event String CODEC(ZSTD(1)),
    spool_id UUID,
    seq UInt64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (project_id, received_at)
TTL toDateTime(received_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The ids of events that arrived again and were left out. The shipper inserts them, and traces show them. Rows with the
-- same position in the spool count once. Kept for 30 days.
CREATE TABLE IF NOT EXISTS duplicate_events
(
    organization_id UUID,
    project_id UUID,
    pixel_id UUID,
    event_id UUID,
    received_at DateTime64(3, 'UTC'),
    spool_id UUID,
    seq UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (organization_id, event_id, received_at, spool_id, seq)
TTL toDateTime(received_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000;

-- The log of requests to the API: no secrets, and no values of parameters that may describe people. The charge of a
-- request is in PostgreSQL's ledger. Kept for 30 days.
CREATE TABLE IF NOT EXISTS api_requests
(
    organization_id UUID,
    at DateTime64(3, 'UTC'),
    request_id UUID,
    -- The project of the key, or the project that the request names.
    project_id Nullable(UUID),
    caller_kind LowCardinality(String),
    caller_id UUID,
    mode LowCardinality(String),
    method LowCardinality(String),
    -- The pattern of the route: /api/v1/audiences/:audience_id
    route LowCardinality(String),
    -- The requested path and parameters: ids with their values, all others with their names only.
    target String CODEC(ZSTD(1)),
    status UInt16,
    -- The error of an answer other than 2xx. Otherwise empty.
    error LowCardinality(String),
    latency_ms UInt32
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (organization_id, at, request_id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 1000;
