/**
 * Describes the API without stores and without a port. The build bundles this file, and writes the clients' types and the
 * pages of /docs with it (ops/launch/generate.mjs).
 */
import type { Document } from './api/client/document.ts'
import { describedRoutes } from './api/openapi/openapiRoute.ts'
import { shareSchemas } from './api/openapi/sharedSchemas.ts'
import { createApp } from './app.ts'
import { readConfig } from './config.ts'
import { writeSite } from './dashboard/docsSite/site.ts'
import { openLog } from './platform/log.ts'
import { packageRoot } from './platform/paths.ts'
import type { Services } from './services.ts'

export { operationsModule } from './api/client/operationsModule.ts'
export { pythonModule } from './api/client/pythonModule.ts'
export { typesModule } from './api/client/typesModule.ts'

/** Stands for a dependency of routes. They only keep it when they are registered, and no request comes. */
const unused: unknown = new Proxy(() => unused, {
  get: (_target, name) => (name === 'then' || name === Symbol.iterator ? undefined : unused),
})

/** Returns the document that `GET /openapi.json` serves, after it has written the pages of /docs into the build. */
export async function describeApi(): Promise<Document> {
  const config = readConfig({})
  const { publicUrl, collectorUrl } = config
  const log = openLog({ logLevel: 'silent' })
  const given = {
    config,
    publicUrl,
    collectorUrl,
    log,
    demoPixel: null,
    idleConnectionMs: 0,
    headTimeoutMs: 0,
    filesDirectory: packageRoot,
  }
  const services = new Proxy(given, {
    get: (target, name) => (name in target ? target[name as keyof typeof given] : unused),
  }) as unknown as Services
  const app = await createApp(services)
  await app.ready()
  const described = describedRoutes(app)
  writeSite(described)
  return shareSchemas(described) as unknown as Document
}
