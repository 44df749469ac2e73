import { inject } from 'vitest'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres } from '../../../../collector/platform/postgres/pool.ts'
import { type Exports, exportsOf } from '../../../harness/exports.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

/** Exports of a new organization. */
export async function openExports(): Promise<Exports> {
  const { service, env } = await openTenant()
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  const clickhouse = openClickHouse(inject('clickhouseUrl'), env.CLICKHOUSE_DATABASE!)
  return exportsOf(service, postgres, clickhouse, env)
}
