import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDemo } from '../../collector/ops/demo/demo.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { keptDatabases, randomName } from './databases.ts'
import { type Service, startService } from './service.ts'

/** A service, and the settings that it runs with. */
export interface ServiceWithEnv {
  service: Service
  env: Record<string, string>
}

let shared: Promise<ServiceWithEnv> | null = null

/**
 * An organization of its own, as `demo`, in the service that all files share which one process runs: for tests that do
 * not count what others have, nor end the service. It goes on when it is stopped, and ends with the process.
 */
export async function openSharedService(): Promise<ServiceWithEnv> {
  shared ??= start()
  const { service, env } = await shared
  const directory = mkdtempSync(join(tmpdir(), 'footfall-demo-'))
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  try {
    writeFileSync(
      join(directory, 'demo.json'),
      JSON.stringify({ admin_email: `${randomName()}@footfall.example` }),
    )
    const demo = await ensureDemo(postgres, {
      dataDir: directory,
      publicUrl: service.url,
      collectorUrl: service.url,
    })
    return { service: { ...service, demo, stop: async () => {} }, env }
  } finally {
    await postgres.end()
    rmSync(directory, { recursive: true })
  }
}

async function start(): Promise<ServiceWithEnv> {
  const env = await keptDatabases()
  const service = await startService({ env })
  process.once('exit', () => rmSync(service.dataDir, { recursive: true, force: true }))
  return { service, env }
}
