/** A worker process: takes beacons into its own spool, answers reads. Started and told what to do by workers.ts. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createAuthenticate } from './api/access/authenticate.ts'
import { createRecordLastUsed } from './api/access/lastUsed.ts'
import { createTakeTokens } from './api/access/rateLimits.ts'
import { createOpenReader, readLimitsOf } from './api/access/reader.ts'
import { createRecordScopeOf } from './api/access/recordScope.ts'
import { createSampleView } from './api/access/sampleView.ts'
import { createScopeOf } from './api/access/scope.ts'
import { createTokens } from './api/access/tokens.ts'
import { createWrongKeyLimit } from './api/access/wrongKeys.ts'
import { openCursors } from './api/http/cursors.ts'
import { listen } from './api/http/listen.ts'
import { createApp, createMetricsApp } from './app.ts'
import { openUploads } from './audiences/lists/upload/uploads.ts'
import { createBilling } from './billing/billing.ts'
import { openRequestLog } from './billing/requests/requestLog.ts'
import { openIgnoredTraffic } from './ingest/beacon/ignoredTraffic.ts'
import { createIdentifyLimit, createIngestLimits } from './ingest/beacon/ingestLimits.ts'
import { openOptOuts } from './ingest/beacon/optOuts.ts'
import { openPixelRegistry } from './ingest/beacon/pixels.ts'
import { createRecordRefusal } from './ingest/beacon/refusals.ts'
import { createVouches } from './ingest/beacon/sender.ts'
import { openDailySalt } from './ingest/beacon/visitor.ts'
import { openLocate } from './ingest/normalize/location.ts'
import { openPinnedScripts } from './ingest/script/pinnedScripts.ts'
import { collectorIdOf } from './ingest/spool/collectors.ts'
import { createSharedClock } from './ingest/spool/sharedClock.ts'
import type { Spool } from './ingest/spool/spool.ts'
import { openSpools } from './ingest/spool/spools.ts'
import { shopRoutes } from './ops/demo/shopRoutes.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './ops/processes/workers.ts'
import { openDatabases } from './platform/clickhouse/cluster.ts'
import { lockDirectory } from './platform/localStores/lock.ts'
import { openLog } from './platform/log.ts'
import { openMail } from './platform/mail.ts'
import { aggregateMetrics, commitRows, registry } from './platform/metrics.ts'
import { openOutbound } from './platform/outbound/outbound.ts'
import { openSealer } from './platform/outbound/sealer.ts'
import { packageVersion } from './platform/paths.ts'
import { openPostgres } from './platform/postgres/pool.ts'
import { StartError } from './platform/startError.ts'

const tell = (message: FromWorker) => process.send?.(message)

/** How long a predecessor that lost its primary may take to end. */
const lockWaitMs = 5_000

async function start(setup: WorkerSetup): Promise<() => Promise<void>> {
  const { config, demo } = setup
  const log = openLog(config)
  const pool = openPostgres(
    setup.postgresUrl,
    (error) => log.warn({ error: error.message }, 'a connection to PostgreSQL broke'),
    setup.postgresConnectionsMax,
  )
  const clickhouse = openDatabases(setup.clickhouse, config.clickhouseDatabase)
  const openReader = createOpenReader(clickhouse, readLimitsOf(config))
  const billing = createBilling({ postgres: pool, log, now: Date.now })
  const ingest = config.role === 'api' ? null : await openIngest(setup, pool)
  const tokens = createTokens(pool)
  const cursors = openCursors(Buffer.from(setup.cursorKey))
  const outbound = openOutbound({ allow: config.outboundAllow })
  const sealer = openSealer(config)
  const requestLog = config.role === 'ingest' ? null : openRequestLog(clickhouse.live, log)
  const guard = {
    authenticate: createAuthenticate(pool, tokens, config.publicUrl),
    takeTokens: config.rateLimits ? createTakeTokens(pool) : null,
    noteKeyUse: createRecordLastUsed(pool, log),
    wrongKeys: config.rateLimits ? createWrongKeyLimit() : null,
    sampleView: createSampleView(pool),
  }
  const app = await createApp({
    config,
    log,
    metrics: askForMetrics,
    notReady: () =>
      isDraining
        ? 'the service is draining before it stops'
        : ingest
          ? ingest.deps.spools.events.trouble
          : storesAway,
    guard,
    requestLog: requestLog ?? undefined,
    ingest: ingest ? { ...ingest.deps, vouches: createVouches(guard) } : undefined,
    delivery: ingest
      ? {
          postgres: pool,
          spool: ingest.deps.spools.events,
          optOuts: ingest.deps.optOuts,
          locate: ingest.deps.locate,
        }
      : undefined,
    ...(config.role !== 'ingest' && {
      read: {
        openReader,
        scopeOf: createScopeOf(pool),
        billing,
        cursors,
        postgres: pool,
        now: Date.now,
      },
      lists: {
        clickhouse,
        cursors,
        postgres: pool,
        uploads: openUploads(config.dataDir, collectorIdOf(config.dataDir)),
        recordScopeOf: createRecordScopeOf(pool),
      },
      campaigns: {
        openReader,
        cursors,
        postgres: pool,
        now: Date.now,
        recordScopeOf: createRecordScopeOf(pool),
      },
      webhooks: {
        cursors,
        postgres: pool,
        recordScopeOf: createRecordScopeOf(pool),
        outbound,
        sealer,
      },
      integrations: {
        cursors,
        postgres: pool,
        now: Date.now,
        outbound,
        sealer,
        recordScopeOf: createRecordScopeOf(pool),
      },
      accounts: {
        sendMail: config.smtpUrl ? openMail(config.smtpUrl, config.smtpFrom) : null,
        postgres: pool,
        openReader,
        tokens,
        cursors,
        sealer,
        publicUrl: config.publicUrl,
        collectorUrl: config.collectorUrl,
      },
      operator: {
        postgres: pool,
        clickhouse: clickhouse.live,
        openReader,
        metrics: askForMetrics,
        deadLetterDirectory: join(config.dataDir, 'dead_letters'),
        version: packageVersion,
      },
    }),
  })
  if (demo && config.role === 'all') {
    const { organization_id: organizationId, project_id: projectId, pixel_id: pixelId } = demo
    const pixel = { organizationId, projectId, pixelId }
    await app.register(shopRoutes({ pixel, clickhouse: clickhouse.live }))
  }
  app.server.maxConnections = config.connectionsMax
  app.server.headersTimeout = headersTimeoutMs
  await listen(app, config.host, config.port, 'PORT')
  const metricsApp = config.metricsPort
    ? await createMetricsApp({ config, metrics: askForMetrics })
    : null
  if (metricsApp)
    await listen(metricsApp, config.host, config.metricsPort!, 'FOOTFALL_METRICS_PORT')

  return async () => {
    await metricsApp?.close()
    await app.close()
    await ingest?.close()
    await billing.close()
    await requestLog?.close()
    await Promise.all([clickhouse.live.close(), clickhouse.test.close(), pool.end()])
  }
}

/** A client that sends its headers slower than this is cut off. */
const headersTimeoutMs = 10_000

async function openIngest(
  { config, postgresUrl, spoolDirectory, receivedFrom, keepsCopies: keeps }: WorkerSetup,
  pool: ReturnType<typeof openPostgres>,
) {
  const locate = openLocate(config.ipDatabase)
  const lock = await lockDirectory(spoolDirectory, lockWaitMs)
  const bytesMax = Math.floor(config.spoolBytesMax / config.workers)
  const spools = openSpools(
    spoolDirectory,
    { bytesMax, receivedFrom, clock },
    {
      sealed: (table, path) => tell({ type: 'sealed', table, path }),
      noRoom: () => tell({ type: 'no room' }),
      commit: (table, rows) => table === 'events' && commitRows.observe(rows),
    },
  )
  openEvents = spools.events
  const { dataDir } = config
  const pixels = await openPixelRegistry(pool, postgresUrl, { dataDir, keeps })
  const optOuts = await openOptOuts(pool, postgresUrl, { dataDir, keeps })
  const ignoredTraffic = await openIgnoredTraffic(pool, postgresUrl, { dataDir, keeps })
  const salt = await openDailySalt(pool, dataDir)
  return {
    deps: {
      pixels,
      optOuts,
      ignoredTraffic,
      salt,
      spools,
      locate,
      pinned: openPinnedScripts(pool),
      limits: createIngestLimits(config),
      identifyLimit: createIdentifyLimit(config),
      recordRefusal: createRecordRefusal(spools.rejected_events),
    },
    async close() {
      await Promise.all(Object.values(spools).map((spool) => spool.close()))
      salt.close()
      await pixels.close()
      await optOuts.close()
      await ignoredTraffic.close()
      await lock.release()
    },
  }
}

/** Told up to when all events are sealed. */
let openEvents: Spool | null = null

const metricsAsked = new Map<string, (text: Promise<string>) => void>()

/** The numbers of all processes, as Prometheus text. */
function askForMetrics(): Promise<string> {
  const request = randomUUID()
  tell({ type: 'metrics', request })
  return new Promise((resolve) => metricsAsked.set(request, resolve))
}

let stop: (() => Promise<void>) | null = null
const clock = createSharedClock()
/** Whether the service is about to stop. */
let isDraining = false
/** Which stores cannot be reached, in words; who takes beacons can do without for a while. */
let storesAway: string | null = null

process.on('message', async (message: ToWorker) => {
  switch (message.type) {
    case 'start':
      try {
        stop = await start(message.setup)
        tell({ type: 'ready' })
      } catch (error) {
        const isStartError = error instanceof StartError
        const text = isStartError ? error.message : String((error as Error).stack)
        // Started again by the primary, unless it was the first start.
        process.send?.({ type: 'failed', message: text, isStartError }, () => process.exit(1))
      }
      break
    case 'collect':
      tell({
        type: 'collected',
        request: message.request,
        metrics: await registry.getMetricsAsJSON(),
      })
      break
    case 'low mark':
      // While it starts nobody knows what was left to it: no answer.
      clock.note(message.latestMs ?? Infinity)
      if (openEvents) {
        openEvents.notePublished(message.published)
        tell({ type: 'low mark', request: message.request, mark: openEvents.lowMark() })
      }
      break
    case 'metrics':
      metricsAsked.get(message.request)?.(aggregateMetrics(message.all))
      metricsAsked.delete(message.request)
      break
    case 'drain':
      isDraining = true
      break
    case 'stores':
      storesAway = message.away
      break
    case 'stop':
      await stop?.()
      process.exit(0)
  }
})

// A Ctrl-C reaches the whole group: the primary stops its workers in order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
tell({ type: 'up' })
