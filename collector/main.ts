import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthenticate } from './access/authenticate.ts'
import { createScopeOf } from './access/scope.ts'
import { createApp } from './app.ts'
import { migrateClickHouse } from './clickhouse/migrate.ts'
import { type Config, readConfig } from './config.ts'
import { ensureDemo } from './demo/demo.ts'
import { keepSampleDatabase, sampleIdentity } from './demo/sample.ts'
import { shopRoutes } from './demo/shopRoutes.ts'
import { welcome } from './demo/welcome.ts'
import { StartError } from './errors.ts'
import type { IngestDeps } from './ingest/intake.ts'
import { openPixelRegistry } from './ingest/pixels.ts'
import { openDailySalt } from './ingest/visitor.ts'
import { openSpools } from './spool/spools.ts'
import { lockDirectory } from './stores/lock.ts'
import { openStores, type Stores } from './stores/open.ts'

interface Log {
  warn(message: string): void
}

/** Reads the configuration, opens the stores, starts the app, and on a signal closes all of it in order. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log: Log = { warn: (message) => console.warn(`footfall: ${message}`) }
  makeWritable(config.dataDir)
  const lock = await lockDirectory(config.dataDir)
  const stores = await openStores(config, log)
  const { pool } = stores.postgres

  const ingest = config.role === 'api' ? null : await openIngest(config, stores, log)
  const migrated = migrateUntilDone(config, stores, log)
  const app = await createApp({
    config,
    ready: async () => (ingest?.isFull() ? 'the spool is full' : null),
    ingest: ingest?.deps,
    read:
      config.role === 'ingest'
        ? undefined
        : {
            clickhouse: stores.clickhouse,
            authenticate: createAuthenticate(pool),
            scopeOf: createScopeOf(pool, sampleIdentity.organizationId),
          },
  })

  // A collector takes beacons while ClickHouse is away: they wait in the spool. Reads have nothing to say then.
  if (config.role !== 'ingest') await migrated
  const sample = config.role === 'ingest' ? null : await keepSampleDatabase(stores.clickhouse.test, log)
  const demo = config.demo ? await ensureDemo(pool, config.dataDir, config.publicUrl) : null
  if (demo && config.role === 'all') {
    await app.register(
      shopRoutes({ pixelId: demo.pixel_id, apiKey: demo.api_key, apiSecret: demo.api_secret }),
    )
  }

  const close = async () => {
    await app.close()
    sample?.stop()
    await ingest?.close()
    await stores.close()
    await lock.release()
  }
  try {
    await app.listen({ port: config.port, host: config.host })
  } catch (error) {
    await close()
    const isBusy = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    throw isBusy ? new StartError(`port ${config.port} is in use; set PORT to another`) : error
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().then(() => process.exit(0)))
  }
  console.log(demo ? welcome(demo, config.dataDir) : `Footfall listens on ${config.publicUrl}`)
}

async function openIngest(config: Config, { clickhouse, postgres }: Stores, log: Log) {
  const spools = openSpools(join(config.dataDir, 'spool'), config.spoolBytesMax, clickhouse.live, log)
  const pixels = await openPixelRegistry(postgres.pool, postgres.url)
  const salt = await openDailySalt(postgres.pool)
  const deps: IngestDeps = { pixels, salt, spools }
  return {
    deps,
    isFull: () => spools.events.bytes >= config.spoolBytesMax,
    async close() {
      await spools.close()
      salt.close()
      await pixels.close()
    },
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

const migrateRetryMs = 1_000

/** Brings both databases to their newest form, as soon as ClickHouse is there. */
async function migrateUntilDone(
  { clickhouseDatabase }: Config,
  { clickhouse }: Stores,
  log: Log,
): Promise<void> {
  for (;;) {
    try {
      await migrateClickHouse(clickhouse.url, clickhouseDatabase)
      return await migrateClickHouse(clickhouse.url, `${clickhouseDatabase}_test`)
    } catch (error) {
      log.warn(`ClickHouse is not ready: ${(error as Error).message}`)
      await new Promise((resolve) => setTimeout(resolve, migrateRetryMs))
    }
  }
}

main().catch((error) => {
  console.error(error instanceof StartError ? `footfall: ${error.message}` : error)
  process.exit(1)
})
