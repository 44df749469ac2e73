import { setTimeout as delay } from 'node:timers/promises'
import { serviceSecret } from './api/access/serviceSecret.ts'
import { type Config, duties, readConfig } from './config.ts'
import { welcome } from './ops/demo/welcome.ts'
import { startChores } from './ops/processes/chores.ts'
import {
  checkSettings,
  lockDataDirectory,
  requireResources,
} from './ops/processes/dataDirectory.ts'
import { createMeasure } from './ops/processes/measure.ts'
import { migrateStores } from './ops/processes/prepareStores.ts'
import { startBackground } from './ops/processes/queues.ts'
import { prepareSamples, type Samples } from './ops/processes/samples.ts'
import { openShipping, stopShipping } from './ops/processes/shipping.ts'
import { createStarted, endOnSignal } from './ops/processes/started.ts'
import { startStores } from './ops/processes/startStores.ts'
import { startWorkers } from './ops/processes/startWorkers.ts'
import { collectorIdOf } from './platform/collectors.ts'
import { counted } from './platform/counted.ts'
import { openLog } from './platform/log.ts'
import { operatorLine } from './platform/startError.ts'
import type { Stores } from './platform/stores/openStores.ts'
import { createServices, type ServiceOptions } from './services.ts'

/**
 * The primary process. It owns the local stores, ships what the workers spool, runs jobs, and replaces workers that die;
 * the workers (worker.ts) answer requests. Each phase below waits for the one before it, and a signal stops what was
 * started in the reverse order:
 *
 *   settings ▶ lock ▶ stores ▶ migrate ▶ shipping ▶ services ▶ samples ▶ jobs ▶ workers ▶ chores ▶ ready
 *                              └ ClickHouse goes on beside shipping; only reads wait for it
 *
 * Services, the samples of test keys, and jobs are of roles that answer reads.
 */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const { takesBeacons, answersReads } = duties[config.role]
  const log = openLog(config)
  const started = createStarted()

  checkSettings(config, log)
  const lock = await lockDataDirectory(config.dataDir)
  started.add(() => lock.release())

  await requireResources(config)

  reportPhase(openingText(config))
  const stores = await startStores(config, log)
  started.add(() => stores.close())
  const { pool: postgres, url: postgresUrl } = stores.postgres
  const collectorId = collectorIdOf(config.dataDir)
  const migration = migrateStores(config, stores, { collectorId, log, failed: fail })
  reportPhase('migrating PostgreSQL')
  const prepared = await migration.postgres()

  reportPhase('reading the spool')
  const shipping = await openShipping(config, stores, { collectorId, log })
  started.add(() => stopShipping(shipping, { config, migration, postgres, collectorId, log }))

  // A collector accepts beacons without ClickHouse: they wait in the spool. Reads then have no data.
  if (answersReads) {
    reportPhase('migrating ClickHouse')
    await migration.clickhouse()
  }
  const cursorKey = answersReads ? await serviceSecret(postgres, 'cursor_key') : Buffer.alloc(0)
  const services = answersReads ? await servicesOfJobs(config, stores, { log, cursorKey }) : null
  if (services) started.add(() => services.close())

  const samples = await prepareSamples(config, stores, services, log)
  const background = services && (await startBackground(services, postgresUrl))
  if (background) started.add(() => background.stop())

  await migration.leavePort()
  reportPhase(`starting ${counted(config.workers, 'worker')}`)
  let { receivedFrom } = prepared
  const workers = await startWorkers({
    count: config.workers,
    setupOf: (index) => ({
      config,
      clickhouse: stores.clickhouse.address,
      postgresUrl,
      postgresConnectionsMax: prepared.connections,
      spoolDirectory: shipping.directoryOf(index),
      receivedFrom,
      keepsCopies: index === 0,
      cursorKey,
      demo: samples.demo,
    }),
    recover: shipping.recover,
    onSealed: (table, path) => shipping.shippers[table].add(path),
    onNoRoom: shipping.makeRoom,
    measure: createMeasure(config, stores, shipping, background),
    log,
  })
  started.add(() => workers.stop())
  await background?.jobs

  const chores = startChores({
    stores,
    workers,
    shipping,
    collectorId,
    takesBeacons,
    uploads: services?.uploads ?? null,
    // A worker that starts from now on respects it, also without PostgreSQL.
    onWatermark(mark) {
      receivedFrom = Math.max(receivedFrom, mark)
      migration.keep({ connections: prepared.connections, receivedFrom: mark })
    },
    log,
  })
  started.add(() => chores.stop())
  started.add(() => samples.stop())

  endOnSignal(async () => {
    workers.drain()
    await delay(config.drainSeconds * 1000)
    await started.stop()
  })
  await samples.complete()
  console.log(readyText(config, samples))
}

/** What samples and jobs are built from: no request comes to this process. */
const servicesOfJobs = (
  config: Config,
  stores: Stores,
  options: Pick<ServiceOptions, 'log' | 'cursorKey'>,
) => createServices(config, stores, { ...options, hasRateLimits: false, logsRequests: false })

/** Prints a line for each phase of a start, so that an operator sees which one takes long. */
function reportPhase(phase: string): void {
  console.log(`footfall: ${phase}`)
}

const openingText = ({ clickhouse, databaseUrl, dataDir }: Config): string =>
  clickhouse && databaseUrl
    ? 'connecting to ClickHouse and PostgreSQL'
    : `starting ${[clickhouse ? null : 'ClickHouse', databaseUrl ? null : 'PostgreSQL'].filter(Boolean).join(' and ')} in ${dataDir}`

const readyText = (config: Config, { demo, audienceId }: Samples): string =>
  demo ? welcome(demo, config.dataDir, audienceId) : listeningText(config)

/** The address of this process, and the public one if it differs: a proxy is between them. */
function listeningText({ host, port, localUrl, publicUrl }: Config): string {
  const listening = `Footfall listens on ${host.includes(':') ? `[${host}]` : host}:${port}`
  return publicUrl === localUrl ? listening : `${listening}, for ${publicUrl}`
}

function fail(error: Error): void {
  const line = operatorLine(error)
  console.error(line === null ? error : `footfall: ${line}`)
  process.exit(1)
}

main().catch(fail)
