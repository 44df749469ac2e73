import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Config, duties } from '../../config.ts'
import { type IdentityRefresh, keepIdentityFresh } from '../../identity/store/refresh.ts'
import { type NatsShipping, openNatsShipping } from '../../ingest/nats/natsShipping.ts'
import { recordDuplicates } from '../../ingest/shipper/duplicateEvents.ts'
import type { ShipObserver } from '../../ingest/shipper/shipper.ts'
import { openShippers, recoverSpool, type SegmentShippers } from '../../ingest/shipper/shippers.ts'
import { type SpooledTable, unknownFiles, workerDirectories } from '../../ingest/spool/layout.ts'
import { makeSpool } from '../../ingest/spool/spools.ts'
import { oldestWaitingAt } from '../../ingest/spool/waiting.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { releaseCollector } from '../../platform/collectors.ts'
import { lockDirectory } from '../../platform/localStores/lock.ts'
import type { Log } from '../../platform/log.ts'
import {
  deadLetters,
  duplicateEvents,
  shipLagSeconds,
  shippedRows,
  shipRetries,
} from '../../platform/metrics.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { seldomLog } from '../../platform/seldomLog.ts'
import type { Stores } from '../../platform/stores/openStores.ts'
import type { Migration } from './prepareStores.ts'

const shipOnStopMs = 5_000
/** How long to wait for ClickHouse to report whether it restarted since the last insert. */
const restartCheckMs = 2_000
/** How long to wait until workers without a primary end. */
const workerLockWaitMs = 5_000

/** The spools of this machine's workers, and the shippers that insert them into ClickHouse. */
export interface Shipping {
  readonly shippers: SegmentShippers
  /** This machine's part of the replicated log; null: the log is the spool of this machine. */
  readonly replicatedLog: NatsShipping | null
  readonly spoolDirectory: string
  readonly deadLetterDirectory: string
  directoryOf(index: number): string
  /** Ships the segments of the worker's predecessor, and prepares the directory for a new worker. */
  recover(index: number): Promise<void>
  /** Deletes shipped segments that are still kept, because the disk is full. */
  makeRoom(): void
  /**
   * Ships for a short time and stops. Resolves with whether ClickHouse has all events that this machine
   * received.
   */
  stop(): Promise<boolean>
}

/** Starts to ship the spools in the data directory, and the replicated log if this machine owns it. */
export async function openShipping(
  { dataDir, nats: settings, role }: Pick<Config, 'dataDir' | 'nats' | 'role'>,
  { clickhouse: { live, shipping }, postgres }: Stores,
  { collectorId, log }: { collectorId: string; log: Log },
): Promise<Shipping> {
  const identity = keepIdentityFresh(live, log)
  const spoolDirectory = join(dataDir, 'spool')
  const deadLetterDirectory = join(dataDir, 'dead_letters')
  const observe = (table: SpooledTable) => observerOf(table, live, identity, log)
  const replicatedLog =
    settings && duties[role].takesBeacons
      ? await openNatsShipping({
          settings,
          postgres,
          clickhouse: shipping,
          collectorId,
          deadLetterDirectory,
          observe,
          log,
        })
      : null
  const shippers = openShippers(
    shipping,
    { postgresUrl: postgres.url, collectorId, startsFile: join(dataDir, 'clickhouse_starts.json') },
    deadLetterDirectory,
    observe,
  )
  const recovered = new Set<string>()
  const recover = async (directory: string) => {
    const worker = await lockDirectory(directory, workerLockWaitMs)
    recoverSpool(directory, shippers, !recovered.has(directory))
    recovered.add(directory)
    await worker.release()
  }
  for (const directory of workerDirectories(spoolDirectory)) await recover(directory)
  for (const path of unknownFiles(spoolDirectory))
    log.error(
      { path },
      'no segment of this version or an earlier one: it is not shipped and stays in place',
    )
  const directoryOf = (index: number) => join(spoolDirectory, String(index))
  return {
    shippers,
    replicatedLog,
    spoolDirectory,
    deadLetterDirectory,
    directoryOf,
    async recover(index) {
      makeSpool(directoryOf(index))
      await recover(directoryOf(index))
    },
    makeRoom() {
      for (const shipper of Object.values(shippers)) shipper.makeRoom()
    },
    async stop() {
      identity.stop()
      const all = Object.values(shippers)
      const [isConsumed] = await Promise.all([
        replicatedLog?.stop() ?? true,
        ...all.map((shipper) => shipper.stop(shipOnStopMs)),
      ])
      const isKnown = await Promise.race([
        shippers.events.noticeRestart().then(
          () => true,
          () => false,
        ),
        delay(restartCheckMs, false),
      ])
      return (
        isConsumed &&
        isKnown &&
        all.every(({ backlog }) => backlog === 0) &&
        oldestWaitingAt(spoolDirectory) === Infinity
      )
    },
  }
}

interface StopOptions {
  config: Config
  migration: Pick<Migration, 'forget'>
  postgres: Postgres
  collectorId: string
  log: Log
}

/**
 * Ships for a short time and stops. If ClickHouse has all events, readers need not wait for this collector.
 */
export async function stopShipping(
  shipping: Shipping,
  { config, migration, postgres, collectorId, log }: StopOptions,
): Promise<void> {
  const isComplete = await shipping.stop()
  if (!isComplete || !duties[config.role].takesBeacons) return
  try {
    migration.forget()
    await releaseCollector(postgres, collectorId)
  } catch (error) {
    log.warn({ error: (error as Error).message }, 'complete_until waits for this collector')
  }
}

function observerOf(
  table: SpooledTable,
  clickhouse: ClickHouse,
  identity: IdentityRefresh,
  log: Log,
): ShipObserver {
  // Created before the first error, because an alert on a rate misses a counter's first value.
  for (const counter of [shippedRows, deadLetters, shipRetries]) counter.inc({ table }, 0)
  const retries = seldomLog(log)
  return {
    shipped(rows, ageMs) {
      shippedRows.inc({ table }, rows)
      shipLagSeconds.observe({ table }, ageMs / 1000)
      if (table === 'identity_links') identity.linksStored()
    },
    duplicates(lines) {
      duplicateEvents.inc(lines.length)
      // Only traces use these rows, so events do not wait for them.
      recordDuplicates(clickhouse, lines).catch((error: Error) =>
        log.warn({ rows: lines.length, error: error.message }, 'could not record duplicates'),
      )
    },
    deadLetter(reason) {
      deadLetters.inc({ table })
      log.error({ table, reason }, 'a row is not stored; see dead_letters in the data directory')
    },
    retry(error, segment) {
      shipRetries.inc({ table })
      retries.warn({ table, segment, error: error.message }, 'retrying to ship')
    },
  }
}
