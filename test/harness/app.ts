import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../collector/app.ts'
import { readConfig } from '../../collector/config.ts'
import type { StoreConnections } from '../../collector/platform/stores/openStores.ts'
import { createServices, type ServiceOptions } from '../../collector/services.ts'
import { openMemoryLog } from './logs.ts'
import { countOpening } from './usage.ts'

export interface AppOptions extends ServiceOptions {
  /** Settings of the service. */
  env?: Record<string, string> | undefined
}

/**
 * The service's application in this process, on stores that the caller opened and closes, with a data directory of its
 * own. Requests are not logged, and without limits, unless the options say so.
 */
export async function openApp(
  stores: Omit<StoreConnections, 'close'>,
  { env, ...options }: AppOptions = {},
) {
  countOpening('apps')
  const dataDir = mkdtempSync(join(tmpdir(), 'footfall-app-'))
  const config = readConfig({
    LOG_LEVEL: 'warn',
    FOOTFALL_RATE_LIMITS: 'false',
    FOOTFALL_SECRET_KEY: Buffer.alloc(32, 'test').toString('base64'),
    FOOTFALL_DATA_DIR: dataDir,
    ...env,
  })
  const { log } = openMemoryLog('App', config.logLevel)
  const services = await createServices(config, stores, { log, logsRequests: false, ...options })
  const app = await createApp(services)
  return {
    app,
    services,
    config,
    async close() {
      await app.close()
      await services.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
