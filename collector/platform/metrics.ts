import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client'
import { packageVersion } from './paths.ts'

/** Metrics of a process. Each process has its own; `/metrics` adds those of all processes of the machine. */
export const registry = new Registry()
const registers = [registry]

collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })

new Gauge({
  name: 'footfall_build_info',
  help: 'Always 1; its labels are the versions of Footfall and Node.',
  labelNames: ['version', 'node'],
  aggregator: 'max',
  registers,
}).set({ version: packageVersion, node: process.versions.node }, 1)

export const acceptedEvents = new Counter({
  name: 'footfall_events_accepted_total',
  help: 'Events acknowledged.',
  registers,
})
export const rejectedEvents = new Counter({
  name: 'footfall_events_rejected_total',
  help: 'Events rejected, by the part of them that was wrong.',
  labelNames: ['part'],
  registers,
})
export const droppedBotEvents = new Counter({
  name: 'footfall_events_dropped_bot_total',
  help: 'Events of bots, on pixels that drop them.',
  registers,
})
export const droppedOptOutEvents = new Counter({
  name: 'footfall_events_dropped_opt_out_total',
  help: 'Events of visitors who have opted out.',
  registers,
})
export const ignoredEvents = new Counter({
  name: 'footfall_events_ignored_total',
  help: 'Events that a setting of their project ignored, by the setting.',
  labelNames: ['setting'],
  registers,
})
export const refusedBeacons = new Counter({
  name: 'footfall_beacons_refused_total',
  help: 'Beacons answered with an error, by the error.',
  labelNames: ['error'],
  registers,
})
export const httpRequests = new Counter({
  name: 'footfall_http_requests_total',
  help: 'Requests answered, by route and status.',
  labelNames: ['method', 'route', 'status'],
  registers,
})
export const httpSeconds = new Histogram({
  name: 'footfall_http_request_seconds',
  help: 'From a request’s arrival to the last byte of its answer, by route and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2.5, 10, 30],
  registers,
})
export const chargedRecords = new Counter({
  name: 'footfall_records_charged_total',
  help: 'Records charged at the start of the answer, by route and status; refunds are not subtracted.',
  labelNames: ['method', 'route', 'status'],
  registers,
})
export const ackSeconds = new Histogram({
  name: 'footfall_ack_seconds',
  help: 'From a beacon’s arrival to its answer, durable write included.',
  buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
  registers,
})
export const commitRows = new Histogram({
  name: 'footfall_spool_commit_rows',
  help: 'Rows that shared one write and fdatasync.',
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000],
  registers,
})
export const spoolBytes = new Gauge({
  name: 'footfall_spool_bytes',
  help: 'Bytes on disk that ClickHouse does not have yet.',
  labelNames: ['table'],
  registers,
})
export const spoolOldestSeconds = new Gauge({
  name: 'footfall_spool_oldest_seconds',
  help: 'Age of the oldest segment that ClickHouse does not have yet.',
  labelNames: ['table'],
  registers,
})
export const spoolMaxBytes = new Gauge({
  name: 'footfall_spool_max_bytes',
  help: 'Most bytes of the spool on this machine: FOOTFALL_SPOOL_MB_MAX.',
  registers,
})
export const spoolFreeBytes = new Gauge({
  name: 'footfall_spool_disk_free_bytes',
  help: 'Free bytes on the disk of the spool.',
  registers,
})
export const logUp = new Gauge({
  name: 'footfall_log_up',
  help: 'Whether this machine is connected to NATS, 1 or 0. Absent without NATS_URL.',
  labelNames: ['log'],
  registers,
})
export const logFallbackRows = new Counter({
  name: 'footfall_log_fallback_rows_total',
  help: 'Rows that went into the spool because NATS was unavailable.',
  registers,
})
export const shardUp = new Gauge({
  name: 'footfall_clickhouse_shard_up',
  help: 'Whether a shard of ClickHouse answers, 1 or 0. All events wait in the log until every shard answers.',
  labelNames: ['shard'],
  registers,
})
export const shippedRows = new Counter({
  name: 'footfall_shipped_rows_total',
  help: 'Rows inserted into ClickHouse.',
  labelNames: ['table'],
  registers,
})
export const shipLagSeconds = new Histogram({
  name: 'footfall_ship_lag_seconds',
  help: 'From the first row of a segment to its insert.',
  labelNames: ['table'],
  buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 600],
  registers,
})
export const readableLagSeconds = new Gauge({
  name: 'footfall_readable_lag_seconds',
  help: 'Age of the watermark: all earlier events that this machine accepted can be read.',
  registers,
})
export const figuresCompleteUntil = new Gauge({
  name: 'footfall_figures_complete_until_seconds',
  help: 'Time of arrival until which figures have all events, in Unix time; of the process that counts them.',
  aggregator: 'max',
  registers,
})
export const clockAheadSeconds = new Gauge({
  name: 'footfall_clock_ahead_seconds',
  help: 'By how much the clock of this machine is ahead of PostgreSQL’s; negative: behind.',
  registers,
})
export const shipLeaseSeconds = new Histogram({
  name: 'footfall_ship_lease_wait_seconds',
  help: 'How long a segment waited for the shipping lease.',
  buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  registers,
})
export const duplicateEvents = new Counter({
  name: 'footfall_events_duplicate_total',
  help: 'Events removed because they were already stored.',
  registers,
})
export const shipRetries = new Counter({
  name: 'footfall_ship_retries_total',
  help: 'Inserts that were retried.',
  labelNames: ['table'],
  registers,
})
export const deadLetters = new Counter({
  name: 'footfall_dead_letters_total',
  help: 'Rows that ClickHouse refused or the disk corrupted.',
  labelNames: ['table'],
  registers,
})

export const unsentReports = new Gauge({
  name: 'footfall_usage_reports_unsent',
  help: 'Usage reports that Stripe has not accepted yet.',
  registers,
})

export const jobsByState = new Gauge({
  name: 'footfall_jobs',
  help: 'Background jobs that wait, run or failed permanently, by queue; updated every 15 seconds.',
  labelNames: ['queue', 'state'],
  registers,
})

/** The metrics of a process, as sent to another process. */
export type Metrics = Awaited<ReturnType<typeof registry.getMetricsAsJSON>>

/** Returns the Prometheus text of the combined metrics of several processes. */
export const aggregateMetrics = (all: Metrics[]): Promise<string> =>
  AggregatorRegistry.aggregate(all).metrics()
