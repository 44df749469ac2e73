import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '../platform/localStores/lock.ts'
import { StartError } from '../platform/startError.ts'
import { openServers, type Servers } from '../platform/stores/openStores.ts'
import { readStoreNotes, storeNotesPath } from '../platform/stores/storeNotes.ts'

/**
 * Runs `run` with both stores: those of a running service in the data directory, otherwise the configured
 * ones. Without settings it starts local ones for the duration.
 */
export async function withServers<T>(
  config: Config,
  run: (servers: Servers) => Promise<T>,
): Promise<T> {
  if (config.clickhouse && config.databaseUrl) return run(await openServers(config, console))
  if (!existsSync(config.dataDir))
    throw new StartError(
      `${config.dataDir} does not exist: set FOOTFALL_DATA_DIR, or start the service first`,
    )
  let lock: DirectoryLock
  try {
    lock = await lockDirectory(config.dataDir, 0)
  } catch (error) {
    if (error instanceof DirectoryInUse) return run(serversOfService(config.dataDir))
    throw error
  }
  const servers = await openServers(config, console)
  try {
    return await run(servers)
  } finally {
    await servers.stop()
    await lock.release()
  }
}

function serversOfService(dataDir: string): Servers {
  const notes = readStoreNotes(dataDir)
  if (!notes)
    throw new StartError(
      `${storeNotesPath(dataDir)} does not exist yet: the service is still starting`,
    )
  return { clickhouse: notes.clickhouse_url, postgresUrl: notes.postgres_url, stop: async () => {} }
}
