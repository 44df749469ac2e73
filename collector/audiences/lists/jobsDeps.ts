import type { Allowance } from '../../billing/allowance.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Uploads } from './upload/uploads.ts'

export interface ListJobsDeps {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
  readonly uploads: Uploads
  readonly allowance: Pick<Allowance, 'takeForWork'>
  readonly log: WarnLog
}
