import type { Config } from '../../config.ts'
import { LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import { openPostgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import { withServers } from '../servers.ts'
import type { BackupSource } from './backUp.ts'
import { openObjectStore } from './openObjectStore.ts'

/** Held by the process that writes or removes backups. */
export const backupLease = (database: string): string => `backups of ${database}`

/** The lease of a killed process ends within this time. */
const leaseWaitMs = 16_000

/** Runs a command as the only process that changes the backups of this installation. */
export async function withBackups(
  config: Config,
  directory: string | undefined,
  work: (opened: BackupSource) => Promise<void>,
): Promise<void> {
  const store = await openObjectStore(config, directory)
  try {
    await withServers(config, async ({ clickhouse: address, postgresUrl }) => {
      const postgres = openPostgres(postgresUrl, () => {})
      try {
        await withLease(
          postgres,
          backupLease(config.clickhouseDatabase),
          (lease) => work({ store, postgres, address, lease }).catch(explain),
          leaseWaitMs,
        ).catch(refused('another process is writing or removing backups: wait until it ends'))
      } finally {
        await postgres.end()
      }
    })
  } finally {
    store.close()
  }
}

/** Rethrows an error. If a store has become unavailable, it tells how to continue. */
function explain(error: Error): never {
  throw isUnavailable(error)
    ? new StartError(
        `a store cannot be reached any more (${error.message}). Earlier backups are complete. Run the command again: it writes only the missing data`,
      )
    : error
}

/** Returns a handler that reports a held lease in the operator's words. */
const refused =
  (message: string) =>
  (error: unknown): never => {
    throw error instanceof LeaseHeldError ? new StartError(message) : error
  }
