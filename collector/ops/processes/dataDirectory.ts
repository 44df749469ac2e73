import { accessSync, constants, existsSync, mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { requireFreePort } from '../../api/http/listen.ts'
import type { Config } from '../../config.ts'
import { openLocate } from '../../ingest/normalize/address.ts'
import { lackOfDescriptors } from '../../platform/descriptors.ts'
import { type DirectoryLock, lockDirectory } from '../../platform/localStores/lock.ts'
import type { Log } from '../../platform/log.ts'
import { refuseHalfRestored } from '../../platform/restoreMark.ts'
import { lacksSecretKey } from '../../platform/secretKey.ts'
import { StartError } from '../../platform/startError.ts'

/** Reports invalid settings before any part starts. Throws StartError for settings that prevent a start. */
export function checkSettings(config: Config, log: Log): void {
  if (lacksSecretKey(config)) {
    log.warn(
      'FOOTFALL_SECRET_KEY is not set: integrations, webhooks and two-factor authentication are disabled. Set it to the output of `openssl rand -base64 32`, the same for every process.',
    )
  }
  for (const name of config.unknownSettings)
    log.warn(`${name} is not a setting of Footfall, and is ignored. Check its spelling.`)
  const lacking = lackOfDescriptors(config.connectionsMax)
  if (lacking) log.warn(lacking)
  // Workers open the database of countries later.
  if (config.ipDatabase) openLocate(config.ipDatabase)
}

/**
 * Makes this process the only owner of the data directory, and creates the directory if it is missing. Throws
 * StartError if the directory is not writable, contains an unfinished restore, or has another owner.
 */
export async function lockDataDirectory(dataDir: string): Promise<DirectoryLock> {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new StartError(`cannot write to FOOTFALL_DATA_DIR: ${(error as Error).message}`)
  }
  refuseHalfRestored(dataDir)
  return lockDirectory(dataDir, 0)
}

/** Space that the first start of local stores needs, with room for some events. */
const freeMiBMin = 512

/**
 * Throws StartError if another process has a port of the service, or if the disk is too small for new local stores. A
 * later start on a full disk must go on, because it ships the spool.
 */
export async function requireResources({
  host,
  port,
  metricsPort,
  dataDir,
  databaseUrl,
}: Config): Promise<void> {
  await requireFreePort({ host, port, setting: 'PORT' })
  if (metricsPort !== null)
    await requireFreePort({ host, port: metricsPort, setting: 'FOOTFALL_METRICS_PORT' })
  if (databaseUrl !== null || existsSync(join(dataDir, 'postgres'))) return
  const { bavail, bsize } = statfsSync(dataDir)
  const freeMiB = Math.floor((bavail * bsize) / 1024 ** 2)
  if (freeMiB < freeMiBMin)
    throw new StartError(
      `the disk of ${dataDir} has ${freeMiB} MiB free, and new local stores need ${freeMiBMin} MiB: free space, or set FOOTFALL_DATA_DIR to another disk`,
    )
}
