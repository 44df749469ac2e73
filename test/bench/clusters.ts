import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { environmentOf } from '../chaos/scenario.ts'
import { type Cluster, startCluster } from '../harness/cluster.ts'
import { type PostgresProxy, startPostgresProxy } from '../harness/postgresProxy.ts'

/** Runs two collectors and one api on stores of their own, of which PostgreSQL can be taken away, and ends all of it. */
export async function withTwoCollectors<T>(
  log: (line: string) => void,
  run: (cluster: Cluster, proxy: PostgresProxy) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-scale-'))
  const [clickhouse, postgres] = await Promise.all([
    startLocalClickHouse(join(directory, 'clickhouse'), log),
    startLocalPostgres(join(directory, 'postgres'), log),
  ])
  const proxy = await startPostgresProxy(postgres.url, 'nothing is lost')
  const env = environmentOf({ clickhouseUrl: clickhouse.url, databaseUrl: proxy.url })
  const cluster = await startCluster(env, { collectors: 2, random: seededRandom(17) })
  try {
    return await run(cluster, proxy)
  } finally {
    await cluster.close()
    await proxy.refuse()
    await Promise.all([clickhouse.stop(), postgres.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}
