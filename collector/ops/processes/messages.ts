import type { Config } from '../../config.ts'
import type { SpooledTable } from '../../ingest/spool/layout.ts'
import type { ClickHouseAddress } from '../../platform/clickhouse/cluster.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Demo } from '../demo/demo.ts'

/** Setup of a worker at its start. */
export interface WorkerSetup {
  config: Config
  clickhouse: ClickHouseAddress
  postgresUrl: string
  /** How many its pool may open. */
  postgresConnectionsMax: number
  /** This worker's own. */
  spoolDirectory: string
  /** The earliest time, epoch milliseconds, that its events may say they were received. */
  receivedFrom: number
  /** Whether it writes this machine's copies of what PostgreSQL has (platform/diskCache.ts). */
  keepsCopies: boolean
  /** What cursors are signed with; none where nothing is read. */
  cursorKey: Uint8Array
  demo: Demo | null
}

/** Messages from the primary to a worker. */
export type ToWorker =
  | { type: 'start'; setup: WorkerSetup }
  /** Report on /readyz that requests should use another process, and keep answering. */
  | { type: 'drain' }
  /** Which stores cannot be reached, in words; null when both can. */
  | { type: 'stores'; away: string | null }
  | { type: 'stop' }
  /** Send the low mark of your events (Spool.lowMark). PostgreSQL's clock says at most `latestMs`; null: not known. */
  | { type: 'low mark'; request: string; latestMs: number | null; published: number }
  /** Send your numbers. */
  | { type: 'collect'; request: string }
  /** The numbers of all processes, which you asked for. */
  | { type: 'metrics'; request: string; all: Metrics[] }

/** Messages from a worker to the primary. */
export type FromWorker =
  /** Sent first: messages to a worker that does not listen yet are lost. */
  | { type: 'up' }
  | { type: 'ready' }
  | { type: 'failed'; message: string; isStartError: boolean }
  | { type: 'sealed'; table: SpooledTable; path: string }
  /** The disk of the spool is full. */
  | { type: 'no room' }
  | { type: 'low mark'; request: string; mark: number }
  | { type: 'collected'; request: string; metrics: Metrics }
  /** Send me the numbers of all processes. */
  | { type: 'metrics'; request: string }
