import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface PrivacyDeps {
  postgres: Postgres
  cursors: Cursors
  openQueryExecutor: OpenQueryExecutor
}
