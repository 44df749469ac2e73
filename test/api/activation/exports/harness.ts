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

/** Whether ClickHouse knows all opt-outs of the service. */
export async function areOptOutsApplied({ postgres }: Exports): Promise<boolean> {
  const { rowCount } = await postgres.query('SELECT FROM opt_outs WHERE NOT is_known_to_clickhouse')
  return rowCount === 0
}
