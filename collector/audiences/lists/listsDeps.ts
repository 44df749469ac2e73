import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Uploads } from './upload/uploads.ts'

/** What the lists are built from. */
export interface ListsDeps {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
  /** Where uploads wait for their import. */
  readonly uploads: Uploads
  /** Signs where pages go on. */
  readonly cursors: Cursors
  /** Whose lists a request is about. Throws 403 and 404. */
  recordScopeOf: RecordScopeOf
}
