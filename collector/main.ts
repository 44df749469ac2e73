import { accessSync, constants, mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { serviceSecret } from './api/access/serviceSecret.ts'
import { measureJobs } from './api/health/measureJobs.ts'
import { measureShards } from './api/health/measureShards.ts'
import { createWaitingRoom } from './api/health/waitingRoom.ts'
import { watchStores } from './api/health/watchStores.ts'
import { keepUploadsClean } from './audiences/lists/upload/cleanUploads.ts'
import { openUploads } from './audiences/lists/upload/uploads.ts'
import { measureReports } from './billing/reports.ts'
import { readConfig } from './config.ts'
import { keepErasing } from './identity/privacy/erasures.ts'
import { keepIdentityFresh } from './identity/store/refresh.ts'
import { openLocate } from './ingest/normalize/location.ts'
import { keepWatermark } from './ingest/shipper/watermark.ts'
import { collectorIdOf, releaseCollector } from './ingest/spool/collectors.ts'
import { measureSpool, oldestWaitingAt } from './ingest/spool/waiting.ts'
import { ensureDemo } from './ops/demo/demo.ts'
import { useSample } from './ops/demo/sampleUse.ts'
import { demoAudienceId, ensureSampleVisitors } from './ops/demo/sampleVisitors.ts'
import { keepSampleVisitsComing } from './ops/demo/sampleVisits.ts'
import { welcome } from './ops/demo/welcome.ts'
import {
  type Preparation,
  type Prepared,
  prepareClickHouse,
  preparePostgres,
} from './ops/processes/prepareStores.ts'
import { openQueues } from './ops/processes/queues.ts'
import { openShipping } from './ops/processes/shipping.ts'
import { startWorkers } from './ops/processes/workers.ts'
import { ensureSandbox } from './ops/sandbox/sandbox.ts'
import { startJobs } from './platform/jobs/jobs.ts'
import { openKeptCopy } from './platform/keptCopy.ts'
import { lockDirectory } from './platform/localStores/lock.ts'
import { openLog } from './platform/log.ts'
import { openSealer } from './platform/outbound/sealer.ts'
import { refuseHalfRestored } from './platform/restoreMark.ts'
import { lacksSecretKey } from './platform/secretKey.ts'
import { StartError } from './platform/startError.ts'
import { openStores } from './platform/stores/openStores.ts'
import { writeStoreNotes } from './platform/stores/storeNotes.ts'

/** How long /metrics waits for numbers of the stores. */
const measureTimeoutMs = 1_000

/**
 * The primary process: reads the configuration, owns the stores, ships what the workers spool, and on a signal
 * closes all of it in order. The workers (worker.ts) answer requests.
 */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog(config)
  if (lacksSecretKey(config)) {
    log.warn(
      'FOOTFALL_SECRET_KEY is not set: integrations, webhooks and two-factor authentication are refused. Set it to the output of `openssl rand -base64 32`, the same for every process.',
    )
  }
  // Workers open it; one that cannot be used is told before anything is started.
  if (config.ipDatabase) openLocate(config.ipDatabase)
  makeWritable(config.dataDir)
  refuseHalfRestored(config.dataDir)
  const lock = await lockDirectory(config.dataDir, 0)
  const stores = await openStores(config, log)
  writeStoreNotes(config.dataDir, {
    clickhouse_url: stores.clickhouse.address,
    clickhouse_database: config.clickhouseDatabase,
    postgres_url: stores.postgres.url,
    public_url: config.publicUrl,
    collector_url: config.collectorUrl,
  })
  const collectorId = collectorIdOf(config.dataDir)
  const postgresPrepared = preparePostgres(config, stores, collectorId, log)
  postgresPrepared.done.catch(fail)
  const clickhousePrepared = prepareClickHouse(config, stores, postgresPrepared, log)
  clickhousePrepared.done.catch(fail)
  // Until the workers take the port, whoever asks is told what is waited for.
  const waitingRoom = createWaitingRoom(config)
  const ready = async <T>(store: string, { done, away }: Preparation<T>): Promise<T> => {
    if ((await Promise.race([done, away])) === 'away')
      await waitingRoom.waitFor(`${store} cannot be reached`)
    return done
  }
  // A collector that was here before does without PostgreSQL for a while: its workers have copies of what they need.
  const kept = openKeptCopy<Prepared>(config.dataDir, 'collector')
  const isCollectorOnly = config.role === 'ingest' && !config.demo
  const known = isCollectorOnly ? kept.read() : undefined
  const started =
    known && Promise.race([postgresPrepared.done, postgresPrepared.away.then(() => known)])
  const prepared = await (started ?? ready('PostgreSQL', postgresPrepared))

  const { pool: postgres, url: postgresUrl } = stores.postgres
  const { live, test } = stores.clickhouse
  const takesBeacons = config.role !== 'api'
  const answersReads = config.role !== 'ingest'
  const identity = keepIdentityFresh(live, log)
  const shipping = await openShipping(config.dataDir, stores, { collectorId, identity, log })

  // A collector takes beacons while ClickHouse is away: they wait in the spool. Reads have nothing to say then.
  if (answersReads) await ready('ClickHouse', clickhousePrepared)
  const uploads = openUploads(config.dataDir, collectorId)
  const hasSample = answersReads && config.sampleDays > 0
  if (answersReads) await ensureSandbox({ postgres, test, uploads, log }, config.sampleDays)
  const demo = config.demo ? await ensureDemo(postgres, config) : null
  const hasVisitors = demo !== null && hasSample
  // Beside the start of the workers, who need not wait for it.
  const seeding =
    hasVisitors &&
    ensureSampleVisitors(
      {
        postgres,
        clickhouse: live,
        uploads,
        sealer: openSealer(config),
        demoVisits: config.demoVisits,
      },
      demo,
    ).catch((error: Error) =>
      log.warn({ error: error.message }, 'the demo could not be given visitors'),
    )
  const cursorKey = answersReads ? await serviceSecret(postgres, 'cursor_key') : Buffer.alloc(0)
  const background = answersReads
    ? await openQueues(config, stores, { uploads, hasSample, cursorKey, log })
    : null
  // The first start makes the tables of jobs: the workers need not wait for them.
  const startingJobs =
    background && startJobs({ postgres, postgresUrl, queues: background.queues, log })
  startingJobs?.catch(() => {}) // It is waited for below.
  let watermark: ReturnType<typeof keepWatermark> | null = null
  await waitingRoom.close()
  const workers = await startWorkers({
    count: config.workers,
    setupOf: (index) => ({
      config,
      clickhouse: stores.clickhouse.address,
      postgresUrl,
      postgresConnectionsMax: prepared.connections,
      spoolDirectory: shipping.directoryOf(index),
      receivedFrom: Math.max(prepared.receivedFrom, watermark?.published ?? 0),
      keepsCopies: index === 0,
      cursorKey,
      demo,
    }),
    recover: shipping.recover,
    onSealed: (table, path) => shipping.shippers[table].add(path),
    onNoRoom: shipping.makeRoom,
    async measure() {
      measureSpool(shipping.spoolDirectory)
      const measured = Promise.all([
        measureShards(live),
        startingJobs?.then(measureJobs),
        background?.reportsUsage && measureReports(postgres),
      ])
      // Where PostgreSQL is away its numbers stay what they were.
      await Promise.race([measured.catch(() => {}), delay(measureTimeoutMs)])
    },
    log,
  })

  const jobs = await startingJobs
  watermark = takesBeacons
    ? keepWatermark({
        workers,
        shipper: shipping.shippers.events,
        postgres,
        collectorId,
        log,
        keep: (mark) => isCollectorOnly && kept.write({ ...prepared, receivedFrom: mark }),
      })
    : null
  const watching = takesBeacons
    ? null
    : watchStores({ postgres, clickhouse: live }, workers.tellStores)
  const erasing = takesBeacons
    ? keepErasing({
        postgres,
        collectorId,
        deadLetterDirectory: shipping.deadLetterDirectory,
        log,
        oldestWaitingAt: () => oldestWaitingAt(shipping.spoolDirectory),
      })
    : null
  const cleaning = background && keepUploadsClean({ postgres, uploads, log })

  /** Nobody takes beacons any more, and everything is in ClickHouse: readers need not wait for this collector. */
  const release = async () => {
    // First: a start without PostgreSQL cannot know how far readers have read since.
    kept.remove()
    await releaseCollector(postgres, collectorId)
  }
  let stopSampleVisits = async () => {}
  const close = async () => {
    await stopSampleVisits()
    await watching?.stop()
    await cleaning?.stop()
    await watermark?.stop()
    await erasing?.stop()
    await workers.stop()
    await jobs?.stop()
    await background?.close()
    identity.stop()
    const isComplete = await shipping.stop()
    if (takesBeacons && isComplete)
      await release().catch((error: Error) =>
        log.warn({ error: error.message }, 'complete_until waits for this collector'),
      )
    await stores.close()
    await lock.release()
  }
  endOnSignal(async () => {
    workers.drain()
    await delay(config.drainSeconds * 1000)
    await close()
  })
  await seeding
  if (hasVisitors) {
    await useSample(live, demo, config.localUrl).catch((error: Error) =>
      log.warn({ error: error.message }, 'the demo could not be used'),
    )
    if (config.demoVisits) stopSampleVisits = keepSampleVisitsComing(live, demo, log)
  }
  const audienceId = hasVisitors ? demoAudienceId(demo) : null
  console.log(
    demo ? welcome(demo, config.dataDir, audienceId) : `Footfall listens on ${config.publicUrl}`,
  )
}

/** Ends the process, in order, at the first signal: a Ctrl-C comes twice when npm runs us, from the terminal and npm. */
function endOnSignal(end: () => Promise<void>): void {
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isEnding) return
      isEnding = true
      void end().then(() => process.exit(0))
    })
  }
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
