import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from './startError.ts'

/** A file of the data directory from the first row of a restore to its last file. */
const pathOf = (dataDir: string): string => join(dataDir, 'restoring')

/** Call it before a restore writes anything to the stores; `from` is the directory of the backup. */
export const beginRestore = (dataDir: string, from: string): void =>
  writeFileSync(pathOf(dataDir), `${from}\n`, { mode: 0o600, flush: true })

export const endRestore = (dataDir: string): void => rmSync(pathOf(dataDir))

/** Throws StartError where a restore into this data directory did not end. */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(pathOf(dataDir))) return
  throw new StartError(
    `a restore into ${dataDir} did not finish, so the stores are incomplete: empty the data directory and both stores, then restore again`,
  )
}
