import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDemo } from '../../collector/ops/demo/demo.ts'
import type { DemoPixel } from '../../collector/ops/demo/rowsQuery.ts'
import { useSample } from '../../collector/ops/demo/sampleUse.ts'
import { ensureSampleVisitors } from '../../collector/ops/demo/sampleVisitors.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { type AppSettings, type Backend, type ListeningApp, startBackend } from './backend.ts'
import { randomName } from './databases.ts'
import type { MailServer } from './mailServer.ts'
import { type Answering, waitFor } from './service.ts'
import { countOpening } from './usage.ts'

/** A new organization in the app, and the app itself. */
export interface Tenant {
  /** Answers for the tenant, which is its `demo`. */
  service: Answering
  /** The settings of the stores. */
  env: Record<string, string>
  /** Takes all mail that jobs send. */
  mail: MailServer
}

/** With any of these but `hasSample` and `hasVisitors` the app is of its own, on the same stores. */
export interface TenantSettings extends AppSettings {
  /** Whether test keys find a month of sample data. Other files may have had it stored. */
  hasSample?: boolean
  /** Whether the tenant has the sample visitors of a demo, with audiences, exports and a webhook. */
  hasVisitors?: boolean
  /** Whether the app has the demo shop, of the tenant's pixel. */
  hasShop?: boolean
}

/** Of this process: the files of a worker share them. */
let shared: Promise<{ backend: Backend; app: ListeningApp }> | null = null

/**
 * Opens an organization with a project, a pixel, an owner and keys in the app that all files of a worker share. Tests
 * must assert nothing about other organizations.
 */
export async function openTenant({
  hasSample = false,
  hasVisitors = false,
  ...settings
}: TenantSettings = {}): Promise<Tenant> {
  shared ??= start()
  const { backend, app } = await shared
  const ids = { organizationId: randomUUID(), projectId: randomUUID(), pixelId: randomUUID() }
  const isOwn = Object.keys(settings).length > 0
  if (isOwn) countOpening('apps')
  const own = isOwn ? await backend.openApp(appOf(settings, ids)) : null
  if (hasSample) await backend.fillSample()
  const { url, services, output } = own ?? app
  const { publicUrl, collectorUrl } = services
  const directory = mkdtempSync(join(tmpdir(), 'footfall-demo-'))
  try {
    writeFileSync(
      join(directory, 'demo.json'),
      JSON.stringify({
        organization_id: ids.organizationId,
        project_id: ids.projectId,
        pixel_id: ids.pixelId,
        admin_email: `${randomName()}@footfall.example`,
      }),
    )
    const { postgres, clickhouse } = backend.stores
    const { pool } = postgres
    const demo = await ensureDemo(pool, { dataDir: directory, publicUrl, collectorUrl })
    // A beacon sent earlier would be refused.
    const { ingest } = services
    await waitFor('the pixel', () => !ingest || ingest.pixels.get(demo.pixel_id))
    if (hasVisitors) {
      const seed = { postgres: pool, clickhouse: clickhouse.live, demoVisits: false }
      await ensureSampleVisitors({ ...services, ...seed }, demo)
      await useSample(clickhouse.live, demo, url)
      await waitFor('the figures', () => hasAllHits(clickhouse.live, demo.project_id), 120_000)
    }
    const stop = async () => own?.close()
    const { dataDir, env, mail } = backend
    return { service: { url, dataDir, demo, output, stop }, env, mail }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function hasAllHits(clickhouse: ClickHouse, projectId: string): Promise<boolean> {
  const [found] = await clickhouse.rows<{ events: number; hits: number }>({
    sql: `SELECT (SELECT count() FROM events WHERE source = 'pixel' AND project_id = {projectId:UUID}) AS events,
            (SELECT count() FROM hits WHERE project_id = {projectId:UUID}) AS hits`,
    params: { projectId },
  })
  return found!.hits === found!.events
}

const appOf = ({ hasShop = false, ...settings }: TenantSettings, demoPixel: DemoPixel) =>
  hasShop ? { ...settings, demoPixel } : settings

async function start() {
  const backend = await startBackend()
  return { backend, app: await backend.openApp() }
}
