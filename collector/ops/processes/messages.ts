import type { Config } from '../../config.ts'
import type { SpooledTable } from '../../ingest/spool/layout.ts'
import type { ClickHouseAddress } from '../../platform/clickhouse/cluster.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Demo } from '../demo/demo.ts'

export interface WorkerSetup {
  config: Config
  clickhouse: ClickHouseAddress
  postgresUrl: string
  /** Size of the worker's pool. */
  postgresConnectionsMax: number
  /** The spool directory of this worker alone. */
  spoolDirectory: string
  /** The earliest time of receipt, epoch milliseconds, for the worker's events. */
  receivedFrom: number
  /** Whether this worker writes the machine's copies of PostgreSQL's data (platform/diskCache.ts). */
  keepsCopies: boolean
  /** The key that signs cursors; empty if the service answers no reads. */
  cursorKey: Uint8Array
  demo: Demo | null
}

export type ToWorker =
  | { type: 'start'; setup: WorkerSetup }
  /** Start to answer 503 on /readyz, and keep answering requests. */
  | { type: 'drain' }
  /** Describes the unavailable stores; null if both are available. */
  | { type: 'stores'; away: string | null }
  | { type: 'stop' }
  /**
   * Request for the low mark of the worker's events (EventLog.lowMark). PostgreSQL's clock is at most
   * `latestMs`; null: unknown.
   */
  | {
      type: 'low mark'
      request: string
      latestMs: number | null
      published: number
    }
  | { type: 'collect'; request: string }
  /** The metrics of all processes, which the worker requested. */
  | { type: 'metrics'; request: string; all: Metrics[] }

export type FromWorker =
  /** Sent first, because messages to a worker that does not listen yet are lost. */
  | { type: 'up' }
  | { type: 'ready' }
  | { type: 'failed'; message: string; isStartError: boolean }
  | { type: 'sealed'; table: SpooledTable; path: string }
  /** The disk of the spool is full. */
  | { type: 'no room' }
  | { type: 'low mark'; request: string; mark: number; position: number }
  | { type: 'collected'; request: string; metrics: Metrics }
  /** Request for the metrics of all processes. */
  | { type: 'metrics'; request: string }
