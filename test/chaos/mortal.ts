import { rmSync } from 'node:fs'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { type Exports, exportsOf } from '../harness/exports.ts'
import { type Service, startService } from '../harness/service.ts'
import { forgetJobs } from './processes.ts'
import { environmentOf, type Stores } from './scenario.ts'

/** A service that is killed and started again, on one port and the same data. */
export interface Mortal {
  /** The one that runs now. */
  service(): Service
  /** Asks it, with the demo's key. */
  api(): Exports
  readonly postgres: Postgres
  /** Kills it. The next one, which starts after `meanwhile`, continues its work at once. */
  kill(meanwhile?: () => Promise<void>): Promise<void>
}

/** Starts one for `scenario`; it is ended and its data removed, whatever happens. */
export async function withMortal<T>(
  stores: Stores,
  more: Record<string, string>,
  scenario: (mortal: Mortal) => Promise<T>,
): Promise<T> {
  const env: Record<string, string> = { ...environmentOf(stores), ...more }
  let service = await startService({ env })
  const again = { dataDir: service.dataDir, env: { ...env, PORT: new URL(service.url).port } }
  const clickhouse = openClickHouse(env.CLICKHOUSE_URL!, env.CLICKHOUSE_DATABASE!)
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  try {
    return await scenario({
      service: () => service,
      api: () => exportsOf(service, postgres, clickhouse, env),
      postgres,
      async kill(meanwhile = async () => {}) {
        await service.end('SIGKILL')
        await forgetJobs(postgres)
        await meanwhile()
        service = await startService(again)
      },
    })
  } catch (error) {
    throw new Error(
      `${(error as Error).message}\nThe service said:\n${service.output().slice(-2000)}`,
      {
        cause: error,
      },
    )
  } finally {
    await service.end('SIGTERM')
    await Promise.all([clickhouse.close(), postgres.end()])
    rmSync(again.dataDir, { recursive: true, force: true })
  }
}
