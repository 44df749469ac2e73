import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** What the routes of privacy are built on. */
export interface PrivacyDeps {
  postgres: Postgres
  cursors: Cursors
  openQueryExecutor: OpenQueryExecutor
}
