import { listen } from './api/http/listen.ts'
import { createApp, createMetricsApp } from './app.ts'
import { duties } from './config.ts'
import type { Demo } from './ops/demo/demo.ts'
import type { DemoPixel } from './ops/demo/rowsQuery.ts'
import type { WorkerSetup } from './ops/processes/messages.ts'
import { openWorkerSpools } from './ops/processes/workerSpools.ts'
import { type Primary, workForPrimary } from './ops/processes/workForPrimary.ts'
import { openLog } from './platform/log.ts'
import { connectStores } from './platform/stores/openStores.ts'
import { createServices, type Services } from './services.ts'

/** A worker process: takes beacons into its own spools and answers reads, as its role says. Started by startWorkers.ts. */
async function start(setup: WorkerSetup, primary: Primary): Promise<() => Promise<void>> {
  const { config, postgresConnectionsMax, keepsCopies, cursorKey, demo } = setup
  const log = openLog(config)
  const stores = connectStores(setup, config.clickhouseDatabase, log, postgresConnectionsMax)
  const spool = duties[config.role].takesBeacons ? await openWorkerSpools(setup, primary) : null
  const services = await createServices(config, stores, {
    log,
    logs: spool?.logs ?? null,
    keepsCopies,
    cursorKey,
    demoPixel: demo && config.role === 'all' ? pixelOf(demo) : null,
    metrics: primary.metrics,
    notReady: primary.notReady,
  })
  const app = await createApp(services)
  await listen(app, { host: config.host, port: config.port, setting: 'PORT', isShared: true })
  const metricsApp = await listenForMetrics(services)
  return async () => {
    await metricsApp?.close()
    await app.close()
    await spool?.close()
    await services.close()
    await stores.close()
  }
}

async function listenForMetrics(services: Services) {
  const { host, metricsPort } = services.config
  if (metricsPort === null) return null
  const app = await createMetricsApp(services)
  await listen(app, { host, port: metricsPort, setting: 'FOOTFALL_METRICS_PORT', isShared: true })
  return app
}

const pixelOf = ({ organization_id, project_id, pixel_id }: Demo): DemoPixel => ({
  organizationId: organization_id,
  projectId: project_id,
  pixelId: pixel_id,
})

workForPrimary(start)
