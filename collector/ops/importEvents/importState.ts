import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The progress of an import, in a file of the data directory. The same command continues from it after a kill. */
export interface ImportState {
  /** The `spool_id` of its rows. Their `seq` counts the rows of its files. */
  readonly spoolId: string
  readonly seq: number
  readonly file: number
  readonly bytes: number
  readonly lines: number
  /** Rows of all files: stored by this import, stored before, and skipped. */
  readonly imported: number
  readonly duplicates: number
  readonly skipped: number
  /** Length of the report of skipped rows. */
  readonly reportBytes: number
}

const directoryOf = (dataDir: string): string => join(dataDir, 'imports')
const pathOf = (dataDir: string, importId: string): string =>
  join(directoryOf(dataDir), `${importId}.json`)

export function readImportState(dataDir: string, importId: string): ImportState | null {
  try {
    return JSON.parse(readFileSync(pathOf(dataDir, importId), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

export function saveImportState(dataDir: string, importId: string, state: ImportState): void {
  mkdirSync(directoryOf(dataDir), { recursive: true, mode: 0o700 })
  const path = pathOf(dataDir, importId)
  writeFileSync(`${path}.draft`, JSON.stringify(state), { mode: 0o600, flush: true })
  renameSync(`${path}.draft`, path)
}

export const forgetImportState = (dataDir: string, importId: string): void =>
  rmSync(pathOf(dataDir, importId), { force: true })
