import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type ClickHouse, openClickHouse } from '../clickhouse/client.ts'
import { startLocalClickHouse } from '../clickhouse/local.ts'
import type { WarnLog } from '../log.ts'
import { startLocalPostgres } from '../postgres/local.ts'
import { openPostgres, type Postgres } from '../postgres/pool.ts'

export interface Stores {
  clickhouse: { url: string; live: ClickHouse; test: ClickHouse }
  postgres: { url: string; pool: Postgres }
  close(): Promise<void>
}

/** Where both stores are. */
export interface Servers {
  clickhouseUrl: string
  postgresUrl: string
  /** Ends those that were started here. */
  stop(): Promise<void>
}

/** The servers that the configuration names, or local ones in the data directory, started here and ended with this process. */
export async function openServers(config: Config, log: WarnLog): Promise<Servers> {
  const onRestart = (reason: string) => log.warn({ reason }, 'a local store is started again')
  const [localClickHouse, localPostgres] = await Promise.all([
    config.clickhouseUrl ? null : startLocalClickHouse(join(config.dataDir, 'clickhouse'), onRestart),
    config.databaseUrl ? null : startLocalPostgres(join(config.dataDir, 'postgres'), onRestart),
  ])
  return {
    clickhouseUrl: config.clickhouseUrl ?? localClickHouse!.url,
    postgresUrl: config.databaseUrl ?? localPostgres!.url,
    async stop() {
      await Promise.all([localClickHouse?.stop(), localPostgres?.stop()])
    },
  }
}

/** Opens both stores. Servers that the configuration names may be away for a while, see prepareStores.ts. */
export async function openStores(config: Config, log: WarnLog): Promise<Stores> {
  const { clickhouseUrl, postgresUrl, stop } = await openServers(config, log)
  const pool = openPostgres(postgresUrl, (error) =>
    log.warn({ error: error.message }, 'a connection to PostgreSQL broke'),
  )
  const live = openClickHouse(clickhouseUrl, config.clickhouseDatabase)
  const test = openClickHouse(clickhouseUrl, `${config.clickhouseDatabase}_test`)
  return {
    clickhouse: { url: clickhouseUrl, live, test },
    postgres: { url: postgresUrl, pool },
    async close() {
      await Promise.all([live.close(), test.close(), pool.end()])
      await stop()
    },
  }
}
