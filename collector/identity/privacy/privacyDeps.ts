import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Dependencies of the routes of privacy. */
export interface PrivacyDeps {
  postgres: Postgres
  cursors: Cursors
  openQueryExecutor: OpenQueryExecutor
}
