import type { Config } from '../../config.ts'
import type { Log } from '../../platform/log.ts'
import { openStores, type Stores } from '../../platform/stores/openStores.ts'
import { writeStoreNotes } from '../../platform/stores/storeNotes.ts'

/** Opens both stores, starts local ones, and writes their addresses for commands (`npx footfall-server …`). */
export async function startStores(config: Config, log: Log): Promise<Stores> {
  const stores = await openStores(config, log)
  writeStoreNotes(config.dataDir, {
    clickhouse_url: stores.clickhouse.address,
    clickhouse_database: config.clickhouseDatabase,
    postgres_url: stores.postgres.url,
    public_url: config.publicUrl,
    collector_url: config.collectorUrl,
  })
  return stores
}
