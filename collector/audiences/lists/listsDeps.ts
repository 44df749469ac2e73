import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Allowance } from '../../billing/allowance.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Uploads } from './upload/uploads.ts'

export interface ListsDeps {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
  readonly uploads: Uploads
  readonly cursors: Cursors
  /** Returns the owners of the lists that a request may read. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
}

export interface ListJobsDeps {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
  readonly uploads: Uploads
  readonly allowance: Pick<Allowance, 'takeForWork'>
  readonly log: WarnLog
}
