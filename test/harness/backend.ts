/** The work of a primary process, done in the process of the tests: stores, shipping and jobs of every app in it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceSecret } from '../../collector/api/access/serviceSecret.ts'
import { listen } from '../../collector/api/http/listen.ts'
import { createApp } from '../../collector/app.ts'
import { type Config, duties, readConfig } from '../../collector/config.ts'
import type { Spool } from '../../collector/ingest/spool/spool.ts'
import { openSpools, type Spools } from '../../collector/ingest/spool/spools.ts'
import { startChores } from '../../collector/ops/processes/chores.ts'
import { createMeasure } from '../../collector/ops/processes/measure.ts'
import { startBackground } from '../../collector/ops/processes/queues.ts'
import { openShipping } from '../../collector/ops/processes/shipping.ts'
import { ensureSandbox } from '../../collector/ops/sandbox/sandbox.ts'
import { collectorIdOf, registerCollector } from '../../collector/platform/collectors.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { registry } from '../../collector/platform/metrics.ts'
import { openStores } from '../../collector/platform/stores/openStores.ts'
import { writeStoreNotes } from '../../collector/platform/stores/storeNotes.ts'
import { createServices, type ServiceOptions, type Services } from '../../collector/services.ts'
import { keptDatabases } from './databases.ts'
import { openMemoryLog } from './logs.ts'
import { openMailServer } from './mailServer.ts'

/** What an app of its own has that the shared one has not. */
export interface AppSettings extends Omit<ServiceOptions, 'logs' | 'log'> {
  /** Settings of the service. */
  env?: Record<string, string>
  /** Whether the app itself sends mail; jobs always do. */
  sendsMail?: boolean
}

/** In tests, receivers and clients that hang are given up sooner. */
const timeoutMs = 3_000

/** An app that listens on a port of its own, on the stores of the backend. */
export interface ListeningApp {
  url: string
  services: Services
  /** All that it logged so far. */
  output(): string
  close(): Promise<void>
}

export type Backend = Awaited<ReturnType<typeof startBackend>>

/** Starts it on databases that exist until the run ends, as does this backend. */
export async function startBackend() {
  const databases = await keptDatabases()
  const dataDir = mkdtempSync(join(tmpdir(), 'footfall-app-'))
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  const mail = await openMailServer()
  const env: Record<string, string> = {
    ...databases,
    // The shared app's, to which links in mails of jobs lead.
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
    FOOTFALL_DATA_DIR: dataDir,
    FOOTFALL_DEMO: 'false',
    // Tests poll; those of the limits switch them on.
    FOOTFALL_RATE_LIMITS: 'false',
    // fillSample makes them for the files that read them.
    FOOTFALL_SAMPLE_DAYS: '0',
    FOOTFALL_SECRET_KEY: Buffer.alloc(32, 'test').toString('base64'),
    // Receivers of webhooks and exports are on this machine.
    FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
  }
  const config = readConfig({ ...env, ...mail.env })
  const { log } = openMemoryLog('Jobs', config.logLevel, 'worker')
  const stores = await openStores(config, log)
  const { pool: postgres, url: postgresUrl } = stores.postgres
  const collectorId = collectorIdOf(dataDir)
  const { mark } = await registerCollector(postgres, collectorId)
  let receivedFrom = mark
  const shipping = await openShipping(config, stores, { collectorId, log })
  const cursorKey = await serviceSecret(postgres, 'cursor_key')
  const ofJobs = await createServices(config, stores, {
    log,
    cursorKey,
    hasRateLimits: false,
    logsRequests: false,
    webhookTimeoutMs: timeoutMs,
  })
  const { uploads } = ofJobs
  const ensureSample = (days: number) =>
    ensureSandbox({ postgres, test: stores.clickhouse.test, uploads, log }, days)
  await ensureSample(0)
  const background = await startBackground(ofJobs, postgresUrl)
  await background.jobs
  const spools = new Set<Spool>()
  startChores({
    stores,
    shipping,
    collectorId,
    takesBeacons: true,
    uploads,
    workers: {
      async lowMarks(_latestMs, published) {
        for (const spool of spools) spool.notePublished(published)
        return [...spools].map((spool) => ({ mark: spool.lowMark(), position: spool.position }))
      },
      drain: () => {},
      tellStores: () => {},
      stop: async () => {},
    },
    onWatermark(published) {
      receivedFrom = Math.max(receivedFrom, published)
    },
    log,
  })

  const openOwnSpools = async (index: number, { spoolBytesMax }: Config): Promise<Spools> => {
    await shipping.recover(index)
    return openSpools(
      shipping.directoryOf(index),
      { bytesMax: spoolBytesMax, receivedFrom },
      {
        sealed: (table, path) => shipping.shippers[table].add(path),
        commit: () => {},
        noRoom: shipping.makeRoom,
      },
    )
  }

  const measure = createMeasure(config, stores, shipping, background)
  const metrics = async () => {
    await measure()
    return registry.metrics()
  }

  /** Commands that run next to the tests use the addresses of the newest app. */
  const noteStores = ({ publicUrl, collectorUrl }: Config) =>
    writeStoreNotes(dataDir, {
      clickhouse_url: stores.clickhouse.address,
      clickhouse_database: config.clickhouseDatabase,
      postgres_url: postgresUrl,
      public_url: publicUrl,
      collector_url: collectorUrl,
    })

  let count = 0
  /** Opens an app as a worker process has it. */
  const openApp = async ({
    env: more,
    sendsMail = false,
    ...options
  }: AppSettings = {}): Promise<ListeningApp> => {
    const port = count === 0 ? config.port : await freePort()
    const mailEnv = sendsMail ? mail.env : {}
    const appConfig = readConfig({ ...env, PORT: String(port), ...mailEnv, ...more })
    const index = count++
    const memory = openMemoryLog(
      `App on port ${port}`,
      appConfig.logLevel,
      index === 0 ? 'worker' : 'file',
    )
    const own = duties[appConfig.role].takesBeacons ? await openOwnSpools(index, appConfig) : null
    if (own) spools.add(own.events)
    const services = await createServices(appConfig, stores, {
      headTimeoutMs: timeoutMs,
      ...options,
      log: memory.log,
      cursorKey,
      logs: own,
      metrics,
      keepsCopies: index === 0,
    })
    const app = await createApp(services)
    await listen(app, { host: appConfig.host, port, setting: 'PORT' })
    noteStores(appConfig)
    return {
      url: appConfig.localUrl,
      services,
      output: memory.output,
      async close() {
        await app.close()
        if (own) {
          await Promise.all(Object.values(own).map((spool) => spool.close()))
          spools.delete(own.events)
        }
        await services.close()
        noteStores(config)
      },
    }
  }
  let filled: Promise<void> | null = null
  return {
    env,
    dataDir,
    mail,
    stores,
    openApp,
    /** Stores the month of sample data that test keys read, once. */
    fillSample: () => (filled ??= ensureSample(30)),
  }
}
