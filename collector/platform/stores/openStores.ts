import { join } from 'node:path'
import type { ClickHouse } from '../clickhouse/client.ts'
import { type ClickHouseAddress, openDatabases, openForShipping } from '../clickhouse/cluster.ts'
import { startLocalClickHouse } from '../clickhouse/local.ts'
import type { WarnLog } from '../log.ts'
import { startLocalPostgres } from '../postgres/local.ts'
import { openPostgres, type Postgres } from '../postgres/pool.ts'

export interface StoreConnections {
  /** `live` has the events of visitors; `test` has the events that test keys read. */
  clickhouse: Record<'live' | 'test', ClickHouse>
  postgres: { url: string; pool: Postgres }
  close(): Promise<void>
}

export interface Stores extends StoreConnections {
  /** The shipper inserts events into `live` through `shipping`. */
  clickhouse: { address: ClickHouseAddress } & Record<'live' | 'shipping' | 'test', ClickHouse>
}

export interface Servers {
  clickhouse: ClickHouseAddress
  postgresUrl: string
  /** Stops the local stores that this process started. */
  stop(): Promise<void>
}

/** The addresses of both stores; null for a store that is started locally in the data directory. */
interface StoreSettings {
  dataDir: string
  clickhouse: ClickHouseAddress | null
  clickhouseDatabase: string
  databaseUrl: string | null
}

/** The configured servers, or local ones in the data directory, which end with this process. */
export async function openServers(config: StoreSettings, log: WarnLog): Promise<Servers> {
  const onRestart = (reason: string) => log.warn({ reason }, 'restarting a local store')
  const [localClickHouse, localPostgres] = await Promise.all([
    config.clickhouse ? null : startLocalClickHouse(join(config.dataDir, 'clickhouse'), onRestart),
    config.databaseUrl ? null : startLocalPostgres(join(config.dataDir, 'postgres'), onRestart),
  ])
  return {
    clickhouse: config.clickhouse ?? localClickHouse!.url,
    postgresUrl: config.databaseUrl ?? localPostgres!.url,
    async stop() {
      await Promise.all([localClickHouse?.stop(), localPostgres?.stop()])
    },
  }
}

/** Connects to both stores, with at most `postgresConnectionsMax` connections to PostgreSQL. */
export function connectStores(
  { clickhouse: address, postgresUrl }: Omit<Servers, 'stop'>,
  database: string,
  log: WarnLog,
  postgresConnectionsMax?: number,
): StoreConnections {
  const pool = openPostgres(
    postgresUrl,
    (error) => log.warn({ error: error.message }, 'lost a connection to PostgreSQL'),
    postgresConnectionsMax,
  )
  const { live, test } = openDatabases(address, database)
  return {
    clickhouse: { live, test },
    postgres: { url: postgresUrl, pool },
    async close() {
      await Promise.all([live.close(), test.close(), pool.end()])
    },
  }
}

/** Opens both stores. Configured servers may be unavailable for a while (prepareStores.ts). */
export async function openStores(config: StoreSettings, log: WarnLog): Promise<Stores> {
  const servers = await openServers(config, log)
  const { clickhouse, postgres, close } = connectStores(servers, config.clickhouseDatabase, log)
  const shipping = openForShipping(servers.clickhouse, config.clickhouseDatabase)
  return {
    clickhouse: { address: servers.clickhouse, ...clickhouse, shipping },
    postgres,
    async close() {
      await Promise.all([close(), shipping.close()])
      await servers.stop()
    },
  }
}
