import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readUnsentReports } from './billing/reports.ts'
import { type Config, readConfig } from './config.ts'
import { ensureDemo } from './demo/demo.ts'
import { demoAudienceId, ensureSampleVisitors } from './demo/sampleVisitors.ts'
import { welcome } from './demo/welcome.ts'
import { openLocate } from './ingest/normalize/location.ts'
import { collectorIdOf, registerCollector } from './ingest/spool/collectors.ts'
import { openShippers, recoverWorker, type SpooledTable, workerDirectories } from './ingest/spool/spools.ts'
import { measureSpool, oldestWaitingAt } from './ingest/spool/waiting.ts'
import { keepWatermark } from './ingest/spool/watermark.ts'
import { openUploads } from './lists/upload/uploads.ts'
import { type IdentityRefresh, keepIdentityFresh } from './people/identity/refresh.ts'
import { keepErasing } from './people/privacy/erasures.ts'
import { migrateClickHouse } from './platform/clickhouse/migrate.ts'
import { type Jobs, startJobs } from './platform/jobs/jobs.ts'
import { lockDirectory } from './platform/localStores/lock.ts'
import { openStores, type Stores } from './platform/localStores/open.ts'
import { type Log, openLog } from './platform/log.ts'
import {
  deadLetters,
  duplicateEvents,
  jobsByState,
  shipLagSeconds,
  shippedRows,
  shipRetries,
  unsentReports,
} from './platform/metrics.ts'
import { connectionsOfWorker } from './platform/postgres/connections.ts'
import type { Postgres } from './platform/postgres/pool.ts'
import { StartError } from './platform/startError.ts'
import { openQueues } from './queues.ts'
import { fillSampleDatabase } from './sandbox/sample.ts'
import { ensureSampleAudiences } from './sandbox/sampleAudiences.ts'
import { ensureSampleExports } from './sandbox/sampleExports.ts'
import { ensureSampleLists } from './sandbox/sampleLists.ts'
import { ensureSampleOrganization } from './sandbox/sampleOrganization.ts'
import { startWorkers } from './workers.ts'

const shipOnStopMs = 5_000
/** How long /metrics waits for numbers of PostgreSQL. */
const measureTimeoutMs = 1_000
/** How long workers that lost their primary may take to end. */
const workerLockWaitMs = 5_000

/**
 * The primary process: reads the configuration, owns the stores, ships what the workers spool, and on a signal
 * closes all of it in order. The workers (worker.ts) answer requests.
 */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog(config)
  // Workers open it; one that cannot be used is told before anything is started.
  if (config.ipDatabase) openLocate(config.ipDatabase)
  makeWritable(config.dataDir)
  const lock = await lockDirectory(config.dataDir, 0)
  const stores = await openStores(config, log)
  noteStores(config, stores)
  const postgresConnectionsMax = await connectionsOfWorker(
    stores.postgres.pool,
    config.workers,
    config.postgresConnectionsMax,
  )
  const migrated = migrateUntilDone(config, stores, log)
  migrated.catch(fail)

  const { live, test } = stores.clickhouse
  const identity = keepIdentityFresh(live, log)
  const deadLetterDirectory = join(config.dataDir, 'dead_letters')
  const collectorId = collectorIdOf(config.dataDir)
  const shippers = openShippers(
    live,
    { postgresUrl: stores.postgres.url, collectorId },
    deadLetterDirectory,
    (table) => observerOf(table, identity, log),
  )
  const spoolDirectory = join(config.dataDir, 'spool')
  const directoryOf = (index: number) => join(spoolDirectory, String(index))
  const started = new Set<string>()
  const recover = async (directory: string) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const worker = await lockDirectory(directory, workerLockWaitMs)
    recoverWorker(directory, shippers, !started.has(directory))
    started.add(directory)
    await worker.release()
  }
  for (const directory of workerDirectories(spoolDirectory)) await recover(directory)
  const receivedFrom = config.role === 'api' ? 0 : await registerCollector(stores.postgres.pool, collectorId)

  // A collector takes beacons while ClickHouse is away: they wait in the spool. Reads have nothing to say then.
  if (config.role !== 'ingest') await migrated
  const hasSample = config.role !== 'ingest' && config.sampleDays > 0
  if (hasSample) {
    await fillSampleDatabase(test, new Date(), config.sampleDays).catch((error: Error) =>
      log.warn(`the sample database could not be filled: ${error.message}`),
    )
  }
  if (config.role !== 'ingest') await ensureSampleOrganization(stores.postgres.pool)
  if (hasSample) await ensureSampleAudiences(stores.postgres.pool)
  const uploads = openUploads(config.dataDir, collectorId)
  if (hasSample) await ensureSampleLists(stores.postgres.pool, uploads)
  if (hasSample) await ensureSampleExports(stores.postgres.pool)
  const demo = config.demo ? await ensureDemo(stores.postgres.pool, config.dataDir, config.publicUrl) : null
  const hasVisitors = demo !== null && hasSample
  // Beside the start of the workers, who need not wait for it.
  const seeding = hasVisitors
    ? ensureSampleVisitors({ postgres: stores.postgres.pool, clickhouse: live }, demo).catch((error: Error) =>
        log.warn(`the demo could not be given visitors: ${error.message}`),
      )
    : null
  const background = await openQueues(config, stores, { uploads, hasSample, log })
  // The first start makes the tables of jobs: the workers need not wait for them.
  const startingJobs =
    config.role === 'ingest'
      ? null
      : startJobs({
          ...{ postgres: stores.postgres.pool, postgresUrl: stores.postgres.url },
          ...{ queues: background.queues, log },
        })
  startingJobs?.catch(() => {}) // It is waited for below.
  let watermark: ReturnType<typeof keepWatermark> | null = null
  const workers = await startWorkers({
    count: config.workers,
    setupOf: (index) => ({
      config,
      clickhouseUrl: stores.clickhouse.url,
      postgresUrl: stores.postgres.url,
      postgresConnectionsMax,
      spoolDirectory: directoryOf(index),
      receivedFrom: Math.max(receivedFrom, watermark?.published ?? 0),
      demo,
    }),
    recover: (index) => recover(directoryOf(index)),
    onSealed: (table, path) => shippers[table].add(path),
    async measure() {
      measureSpool(spoolDirectory)
      const measured = Promise.all([
        startingJobs?.then(measureJobs),
        background.reportsUsage && measureReports(stores.postgres.pool),
      ])
      // Where PostgreSQL is away these numbers stay what they were.
      await Promise.race([measured.catch(() => {}), delay(measureTimeoutMs)])
    },
    log,
  })

  const jobs = await startingJobs
  watermark =
    config.role === 'api'
      ? null
      : keepWatermark({ workers, shipper: shippers.events, postgres: stores.postgres.pool, collectorId, log })

  const erasing =
    config.role === 'api'
      ? null
      : keepErasing({
          ...{ postgres: stores.postgres.pool, collectorId, deadLetterDirectory, log },
          oldestWaitingAt: () => oldestWaitingAt(spoolDirectory),
        })

  const close = async () => {
    await watermark?.stop()
    await erasing?.stop()
    await workers.stop()
    await jobs?.stop()
    await background.close()
    identity.stop()
    await Promise.all(Object.values(shippers).map((shipper) => shipper.stop(shipOnStopMs)))
    await stores.close()
    await lock.release()
  }
  const drain = async () => {
    workers.drain()
    await delay(config.drainSeconds * 1000)
  }
  // A Ctrl-C comes twice when npm runs us: from the terminal, and from npm.
  let isClosing = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isClosing) return
      isClosing = true
      void drain()
        .then(close)
        .then(() => process.exit(0))
    })
  }
  await seeding
  const audienceId = hasVisitors ? demoAudienceId(demo) : null
  console.log(demo ? welcome(demo, config.dataDir, audienceId) : `Footfall listens on ${config.publicUrl}`)
}

/** Where the stores are, for commands that are run beside the service. */
function noteStores(
  { dataDir, clickhouseDatabase, publicUrl }: Config,
  { clickhouse, postgres }: Stores,
): void {
  const facts = {
    clickhouse_url: clickhouse.url,
    clickhouse_database: clickhouseDatabase,
    postgres_url: postgres.url,
    public_url: publicUrl,
  }
  writeFileSync(join(dataDir, 'stores.json'), `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
}

function observerOf(table: SpooledTable, identity: IdentityRefresh, log: Log) {
  return {
    shipped(rows: number, ageMs: number) {
      shippedRows.inc({ table }, rows)
      shipLagSeconds.observe({ table }, ageMs / 1000)
      if (table === 'identity_links') identity.linksStored()
    },
    duplicates: (rows: number) => duplicateEvents.inc(rows),
    deadLetter(reason: string) {
      deadLetters.inc({ table })
      log.error(`ClickHouse refuses a row for ${table}, see dead_letters in the data directory: ${reason}`)
    },
    retry(error: Error, segment: string) {
      shipRetries.inc({ table })
      log.warn({ err: error }, `shipping ${segment} to ${table} is tried again`)
    },
  }
}

async function measureJobs(jobs: Jobs): Promise<void> {
  for (const { queue, state, count } of await jobs.counts()) jobsByState.set({ queue, state }, count)
}

async function measureReports(postgres: Postgres): Promise<void> {
  unsentReports.set((await readUnsentReports(postgres, Date.now())).length)
}

function makeWritable(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new StartError(`cannot write to FOOTFALL_DATA_DIR: ${(error as Error).message}`)
  }
}

const migrateRetryMs = 1_000

/** Brings both databases to their newest form, as soon as ClickHouse is there. */
async function migrateUntilDone(
  { clickhouseDatabase }: Config,
  { clickhouse }: Stores,
  log: Log,
): Promise<void> {
  for (;;) {
    try {
      await Promise.all(
        [clickhouseDatabase, `${clickhouseDatabase}_test`].map((database) =>
          migrateClickHouse(clickhouse.url, database),
        ),
      )
      return
    } catch (error) {
      if (error instanceof StartError) throw error
      log.warn(`ClickHouse is not ready: ${(error as Error).message}`)
      await delay(migrateRetryMs)
    }
  }
}

function fail(error: Error): void {
  console.error(error instanceof StartError ? `footfall: ${error.message}` : error)
  process.exit(1)
}

main().catch(fail)
