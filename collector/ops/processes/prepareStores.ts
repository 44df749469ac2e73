import { setTimeout as delay } from 'node:timers/promises'
import { createStartupServer } from '../../api/health/startupServer.ts'
import { type Config, duties } from '../../config.ts'
import { isSharded } from '../../platform/clickhouse/cluster.ts'
import { migrateDatabases } from '../../platform/clickhouse/migrateDatabases.ts'
import { registerCollector } from '../../platform/collectors.ts'
import { openDiskCache } from '../../platform/diskCache.ts'
import type { Log } from '../../platform/log.ts'
import { proveSecretKey } from '../../platform/outbound/secretKeyProof.ts'
import { connectionsOfWorker } from '../../platform/postgres/connections.ts'
import { migratePostgres } from '../../platform/postgres/migrate.ts'
import { requireSession } from '../../platform/postgres/requireSession.ts'
import { refuseHalfRestoredStores } from '../../platform/restoreMark.ts'
import { seldomLog } from '../../platform/seldomLog.ts'
import { StartError } from '../../platform/startError.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import type { Stores } from '../../platform/stores/openStores.ts'
import {
  backUpBeforeMigration,
  isClickHouseBehind,
  isPostgresBehind,
} from '../backup/upgradeBackup.ts'

interface Preparation<T> {
  /** Rejects if waiting does not help. */
  readonly done: Promise<T>
  /** Resolves if the store is unavailable at the first attempt. */
  readonly away: Promise<'away'>
}

/** Data of PostgreSQL that a start needs. A collector stores it for starts without PostgreSQL. */
export interface Prepared {
  /** Size of each worker's pool. */
  connections: number
  /**
   * The earliest time of receipt, epoch milliseconds, for new events; 0 on a machine that receives no
   * beacons.
   */
  receivedFrom: number
}

const retryMs = 1_000

/** The upgrades of both stores. */
export interface Migration {
  /**
   * Resolves when PostgreSQL is ready. A machine that only accepts beacons, and did so earlier, does not wait
   * for an unavailable PostgreSQL. It then resolves with the stored data, and its workers have copies of all
   * required data.
   */
  postgres(): Promise<Prepared>
  clickhouse(): Promise<void>
  /** On a machine that only accepts beacons, stores the data for its next start without PostgreSQL. */
  keep(prepared: Prepared): void
  /**
   * Deletes the stored data. If readers continued without this machine, its next start must read their
   * progress from PostgreSQL.
   */
  forget(): void
  /**
   * Releases the port to the workers. Until then, this process answers with the name of the store that it
   * waits for.
   */
  leavePort(): Promise<void>
}

/** Starts the upgrade of both stores. Calls `failed` with an error if waiting does not help. */
export function migrateStores(
  config: Config,
  stores: Stores,
  { collectorId, log, failed }: { collectorId: string; log: Log; failed(error: Error): void },
): Migration {
  const backedUp = backUpOnce(config, stores)
  const postgres = preparePostgres(config, stores, { collectorId, log, backedUp })
  const clickhouse = prepareClickHouse(config, stores, { postgres, log, backedUp })
  for (const { done } of [postgres, clickhouse]) done.catch(failed)
  const isCollectorOnly = config.role === 'ingest' && !config.demo
  const copy = openDiskCache<Prepared>(config.dataDir, 'collector')
  const startupServer = createStartupServer(config)
  const ready = async <T>(store: string, { done, away }: Preparation<T>): Promise<T> => {
    if ((await Promise.race([done, away])) === 'away')
      await startupServer.waitFor(`${store} cannot be reached`)
    return done
  }
  return {
    postgres() {
      const kept = isCollectorOnly ? copy.read() : undefined
      if (!kept) return ready('PostgreSQL', postgres)
      return Promise.race([postgres.done, postgres.away.then(() => kept)])
    },
    clickhouse: () => ready('ClickHouse', clickhouse),
    keep(prepared) {
      if (isCollectorOnly) copy.write(prepared)
    },
    forget: () => copy.remove(),
    leavePort: () => startupServer.close(),
  }
}

/** Backs up both stores before the first of them is migrated. A failed try is repeated by the next caller. */
function backUpOnce(config: Config, { postgres, clickhouse }: Stores): () => Promise<void> {
  const both = { postgres: postgres.pool, address: clickhouse.address }
  let done: Promise<void> | null = null
  return () => {
    done ??= backUpBeforeMigration(config, both, (text) => console.log(`footfall: ${text}`))
    done.catch(() => {
      done = null
    })
    return done
  }
}

/** Upgrades PostgreSQL as soon as it is available, and registers the collector. */
const preparePostgres = (
  config: Config,
  { postgres: { pool, url } }: Stores,
  { collectorId, log, backedUp }: { collectorId: string; log: Log; backedUp: () => Promise<void> },
): Preparation<Prepared> =>
  untilDone('PostgreSQL', log, isUnavailable, async () => {
    await requireSession(pool, url)
    await refuseHalfRestoredStores(pool)
    if (await isPostgresBehind(pool)) await backedUp()
    await migratePostgres(pool)
    if (!(await proveSecretKey(pool, config)))
      log.warn(
        'FOOTFALL_SECRET_KEY is another key than that of earlier starts or of the other machines, so stored secrets cannot be decrypted. Set that key, or add it after a comma.',
      )
    const connections = await connectionsOfWorker(
      pool,
      config.workers,
      config.postgresConnectionsMax,
    )
    if (!duties[config.role].takesBeacons) return { connections, receivedFrom: 0 }
    const { mark, setBackMs } = await registerCollector(pool, collectorId)
    if (setBackMs > 0)
      log.warn(
        { seconds: Math.round(setBackMs / 1000) },
        'a watermark was ahead of PostgreSQL’s clock and was set back',
      )
    return { connections, receivedFrom: mark }
  })

/**
 * Upgrades both databases of ClickHouse as soon as it is available. Shards wait for PostgreSQL, which stores
 * the set of shards.
 */
const prepareClickHouse = (
  { clickhouseDatabase }: Config,
  { clickhouse: { address }, postgres: { pool } }: Stores,
  {
    postgres: { done: postgresPrepared },
    log,
    backedUp,
  }: { postgres: Preparation<unknown>; log: Log; backedUp: () => Promise<void> },
): Preparation<void> =>
  untilDone(
    'ClickHouse',
    log,
    (error) => !(error instanceof StartError),
    async () => {
      if (isSharded(address)) await postgresPrepared
      // A single server may be prepared while PostgreSQL is unavailable.
      await refuseHalfRestoredStores(pool).catch((error) => {
        if (!isUnavailable(error)) throw error
      })
      if (await isClickHouseBehind(address, clickhouseDatabase)) await backedUp()
      await migrateDatabases(address, clickhouseDatabase, pool, (servers) =>
        log.warn({ servers }, 'servers of ClickHouse cannot be reached'),
      )
    },
  )

function untilDone<T>(
  store: string,
  log: Log,
  mayPass: (error: unknown) => boolean,
  prepare: () => Promise<T>,
): Preparation<T> {
  let tellAway: (away: 'away') => void
  const away = new Promise<'away'>((resolve) => {
    tellAway = resolve
  })
  const untilDone = async (): Promise<T> => {
    const retries = seldomLog(log)
    for (;;) {
      try {
        return await prepare()
      } catch (error) {
        if (!mayPass(error)) throw error
        retries.warn({ store, error: (error as Error).message }, 'a store is not ready')
        tellAway('away')
        await delay(retryMs)
      }
    }
  }
  return { done: untilDone(), away }
}
