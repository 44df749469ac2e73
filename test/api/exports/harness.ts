import { inject } from 'vitest'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres } from '../../../collector/platform/postgres/pool.ts'
import { ownDatabases } from '../../harness/databases.ts'
import { type Exports, exportsOf } from '../../harness/exports.ts'
import { startService } from '../../harness/service.ts'

export async function openExports(more: Record<string, string> = {}): Promise<Exports> {
  const env: Record<string, string> = {
    ...(await ownDatabases()),
    FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
    ...secretKey,
    ...more,
  }
  const service = await startService({ env })
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  const clickhouse = openClickHouse(inject('clickhouseUrl'), env.CLICKHOUSE_DATABASE!)
  return exportsOf(service, postgres, clickhouse, env)
}

const secretKey = { FOOTFALL_SECRET_KEY: Buffer.alloc(32, 5).toString('base64') }
