import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { serviceSecret } from './access/serviceSecret.ts'
import { readUnsentReports } from './billing/reports.ts'
import { type Config, readConfig } from './config.ts'
import { ensureDemo } from './demo/demo.ts'
import { useSample } from './demo/sampleUse.ts'
import { demoAudienceId, ensureSampleVisitors } from './demo/sampleVisitors.ts'
import { welcome } from './demo/welcome.ts'
import { measureShards } from './health/measureShards.ts'
import { createWaitingRoom } from './health/waitingRoom.ts'
import { watchStores } from './health/watchStores.ts'
import { openLocate } from './ingest/normalize/location.ts'
import { recordDuplicates } from './ingest/shipper/duplicateEvents.ts'
import { collectorIdOf } from './ingest/spool/collectors.ts'
import { type SpooledTable, spoolParts, unknownFiles } from './ingest/spool/layout.ts'
import { makeSpool, openShippers, recoverSpool } from './ingest/spool/spools.ts'
import { measureSpool, oldestWaitingAt } from './ingest/spool/waiting.ts'
import { keepWatermark } from './ingest/spool/watermark.ts'
import { keepUploadsClean } from './lists/upload/cleanUploads.ts'
import { openUploads } from './lists/upload/uploads.ts'
import { openSealer } from './outbound/sealer.ts'
import { type IdentityRefresh, keepIdentityFresh } from './people/identity/refresh.ts'
import { keepErasing } from './people/privacy/erasures.ts'
import type { ClickHouse } from './platform/clickhouse/client.ts'
import { type Jobs, startJobs } from './platform/jobs/jobs.ts'
import { openKeptCopy } from './platform/keptCopy.ts'
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
import type { Postgres } from './platform/postgres/pool.ts'
import { StartError } from './platform/startError.ts'
import { type Preparation, type Prepared, prepareClickHouse, preparePostgres } from './prepareStores.ts'
import { openQueues } from './queues.ts'
import { fillSampleDatabase } from './sandbox/sample.ts'
import { ensureSampleAudiences } from './sandbox/sampleAudiences.ts'
import { ensureSampleExports } from './sandbox/sampleExports.ts'
import { ensureSampleLists } from './sandbox/sampleLists.ts'
import { ensureSampleOrganization } from './sandbox/sampleOrganization.ts'
import { startWorkers } from './workers.ts'

const shipOnStopMs = 5_000
/** How long /metrics waits for numbers of the stores. */
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
  const collectorId = collectorIdOf(config.dataDir)
  const clickhousePrepared = prepareClickHouse(config, stores, log)
  clickhousePrepared.done.catch(fail)
  const postgresPrepared = preparePostgres(config, stores, collectorId, log)
  postgresPrepared.done.catch(fail)
  // Until the workers take the port, whoever asks is told what is waited for.
  const waitingRoom = createWaitingRoom(config)
  const ready = async <T>(store: string, { done, away }: Preparation<T>): Promise<T> => {
    if ((await Promise.race([done, away])) === 'away') await waitingRoom.waitFor(`${store} cannot be reached`)
    return done
  }
  // A collector that was here before does without PostgreSQL for a while: its workers have copies of what they need.
  const kept = openKeptCopy<Prepared>(config.dataDir, 'collector')
  const isCollectorOnly = config.role === 'ingest' && !config.demo
  const known = isCollectorOnly ? kept.read() : undefined
  const started = known && Promise.race([postgresPrepared.done, postgresPrepared.away.then(() => known)])
  const prepared = await (started ?? ready('PostgreSQL', postgresPrepared))

  const { live, shipping, test } = stores.clickhouse
  const identity = keepIdentityFresh(live, log)
  const deadLetterDirectory = join(config.dataDir, 'dead_letters')
  const shippers = openShippers(
    shipping,
    { postgresUrl: stores.postgres.url, collectorId },
    deadLetterDirectory,
    (table) => observerOf(table, live, identity, log),
  )
  const spoolDirectory = join(config.dataDir, 'spool')
  const directoryOf = (index: number) => join(spoolDirectory, String(index))
  const recovered = new Set<string>()
  const recover = async (directory: string) => {
    const worker = await lockDirectory(directory, workerLockWaitMs)
    recoverSpool(directory, shippers, !recovered.has(directory))
    recovered.add(directory)
    await worker.release()
  }
  for (const directory of spoolParts(spoolDirectory)) await recover(directory)
  for (const path of unknownFiles(spoolDirectory))
    log.error(
      { path },
      'no segment of this version or an earlier one: it is not shipped, and left where it is',
    )

  // A collector takes beacons while ClickHouse is away: they wait in the spool. Reads have nothing to say then.
  if (config.role !== 'ingest') await ready('ClickHouse', clickhousePrepared)
  const hasSample = config.role !== 'ingest' && config.sampleDays > 0
  if (hasSample) {
    await fillSampleDatabase(test, new Date(), config.sampleDays).catch((error: Error) =>
      log.warn({ error: error.message }, 'the sample database could not be filled'),
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
    ? ensureSampleVisitors(
        { postgres: stores.postgres.pool, clickhouse: live, uploads, sealer: openSealer(config) },
        demo,
      ).catch((error: Error) => log.warn({ error: error.message }, 'the demo could not be given visitors'))
    : null
  const cursorKey =
    config.role === 'ingest' ? Buffer.alloc(0) : await serviceSecret(stores.postgres.pool, 'cursor_key')
  const background =
    config.role === 'ingest' ? null : await openQueues(config, stores, { uploads, hasSample, cursorKey, log })
  // The first start makes the tables of jobs: the workers need not wait for them.
  const startingJobs =
    background &&
    startJobs({
      ...{ postgres: stores.postgres.pool, postgresUrl: stores.postgres.url },
      ...{ queues: background.queues, log },
    })
  startingJobs?.catch(() => {}) // It is waited for below.
  let watermark: ReturnType<typeof keepWatermark> | null = null
  await waitingRoom.close()
  const workers = await startWorkers({
    count: config.workers,
    setupOf: (index) => ({
      config,
      clickhouse: stores.clickhouse.address,
      postgresUrl: stores.postgres.url,
      postgresConnectionsMax: prepared.connections,
      spoolDirectory: directoryOf(index),
      receivedFrom: Math.max(prepared.receivedFrom, watermark?.published ?? 0),
      keepsCopies: index === 0,
      cursorKey,
      demo,
    }),
    async recover(index) {
      makeSpool(directoryOf(index))
      await recover(directoryOf(index))
    },
    onSealed: (table, path) => shippers[table].add(path),
    onNoRoom() {
      for (const shipper of Object.values(shippers)) shipper.makeRoom()
    },
    async measure() {
      measureSpool(spoolDirectory)
      const measured = Promise.all([
        measureShards(live),
        startingJobs?.then(measureJobs),
        background?.reportsUsage && measureReports(stores.postgres.pool),
      ])
      // Where PostgreSQL is away its numbers stay what they were.
      await Promise.race([measured.catch(() => {}), delay(measureTimeoutMs)])
    },
    log,
  })

  const jobs = await startingJobs
  watermark =
    config.role === 'api'
      ? null
      : keepWatermark({
          ...{ workers, shipper: shippers.events, postgres: stores.postgres.pool, collectorId, log },
          keep: (mark) => isCollectorOnly && kept.write({ ...prepared, receivedFrom: mark }),
        })
  const watching =
    config.role === 'api'
      ? watchStores({ postgres: stores.postgres.pool, clickhouse: live }, workers.tellStores)
      : null

  const erasing =
    config.role === 'api'
      ? null
      : keepErasing({
          ...{ postgres: stores.postgres.pool, collectorId, deadLetterDirectory, log },
          oldestWaitingAt: () => oldestWaitingAt(spoolDirectory),
        })

  const cleaning = background && keepUploadsClean({ postgres: stores.postgres.pool, uploads, log })

  const close = async () => {
    await watching?.stop()
    await cleaning?.stop()
    await watermark?.stop()
    await erasing?.stop()
    await workers.stop()
    await jobs?.stop()
    await background?.close()
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
  if (hasVisitors) {
    await useSample(live, demo, config.localUrl).catch((error: Error) =>
      log.warn({ error: error.message }, 'the demo could not be used'),
    )
  }
  const audienceId = hasVisitors ? demoAudienceId(demo) : null
  console.log(demo ? welcome(demo, config.dataDir, audienceId) : `Footfall listens on ${config.publicUrl}`)
}

/** Where the stores are, for commands that are run beside the service. */
function noteStores(
  { dataDir, clickhouseDatabase, publicUrl }: Config,
  { clickhouse, postgres }: Stores,
): void {
  const facts = {
    clickhouse_url: clickhouse.address,
    clickhouse_database: clickhouseDatabase,
    postgres_url: postgres.url,
    public_url: publicUrl,
  }
  writeFileSync(join(dataDir, 'stores.json'), `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
}

function observerOf(table: SpooledTable, clickhouse: ClickHouse, identity: IdentityRefresh, log: Log) {
  return {
    shipped(rows: number, ageMs: number) {
      shippedRows.inc({ table }, rows)
      shipLagSeconds.observe({ table }, ageMs / 1000)
      if (table === 'identity_links') identity.linksStored()
    },
    duplicates(lines: readonly Buffer[]) {
      duplicateEvents.inc(lines.length)
      // Traces tell of them; no event waits for it.
      recordDuplicates(clickhouse, lines).catch((error: Error) =>
        log.warn({ rows: lines.length, error: error.message }, 'duplicates are not written down'),
      )
    },
    deadLetter(reason: string) {
      deadLetters.inc({ table })
      log.error({ table, reason }, 'ClickHouse refused a row, see dead_letters in the data directory')
    },
    retry(error: Error, segment: string) {
      shipRetries.inc({ table })
      log.warn({ table, segment, err: error }, 'shipping is retried')
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

function fail(error: Error): void {
  console.error(error instanceof StartError ? `footfall: ${error.message}` : error)
  process.exit(1)
}

main().catch(fail)
