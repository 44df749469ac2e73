import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface OperatorDeps {
  postgres: Postgres
  /** `live` has the events of real visitors. */
  clickhouse: Readonly<Record<'live', ClickHouse>>
  openQueryExecutor: OpenQueryExecutor
  /** The numbers of all processes of this machine, as Prometheus text. */
  metrics: () => Promise<string>
  /** The directory of this machine's dead letters. */
  deadLetterDirectory: string
  /** Of Footfall. */
  version: string
}
