import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from './startError.ts'

/** The file that marks a running restore. It exists until the restore has written all its files. */
const pathOf = (dataDir: string): string => join(dataDir, 'restoring')

/**
 * Marks the start of a restore, before it writes anything to the stores; `from` is the directory of the
 * backup.
 */
export const beginRestore = (dataDir: string, from: string): void =>
  writeFileSync(pathOf(dataDir), `${from}\n`, { mode: 0o600, flush: true })

export const endRestore = (dataDir: string): void => rmSync(pathOf(dataDir))

/** Throws StartError if a restore into this data directory did not finish. */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(pathOf(dataDir))) return
  throw new StartError(
    `a restore into ${dataDir} did not finish, so the stores are incomplete: empty the data directory and both stores, then restore again`,
  )
}
