import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../../platform/startError.ts'

/**
 * The description of a backup in its manifest.json, which is written last: a backup without it is incomplete.
 */
export interface Manifest {
  format: 1
  /** When the backup began, ISO 8601. */
  created_at: string
  clickhouse: {
    /** The names of the databases: live events and test events. */
    databases: readonly [live: string, test: string]
    /**
     * Whether ClickHouse's part is in the backup's directory. Otherwise the user names its location for the
     * restore.
     */
    is_here: boolean
  }
  postgres: PostgresManifest
}

export interface PostgresManifest {
  /** The migrations that the database had applied. */
  migrations: string[]
  tables: TableManifest[]
  /** The sequences with their last values. */
  sequences: { name: string; last_value: string }[]
}

export interface TableManifest {
  name: string
  /** The columns with their types, in the order of the lines. */
  columns: { name: string; type: string }[]
  rows: number
}

const pathOf = (directory: string): string => join(directory, 'manifest.json')

export const writeManifest = (directory: string, manifest: Manifest): void =>
  writeFileSync(pathOf(directory), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  })

/** Throws StartError if there is no complete backup. */
export function readManifest(directory: string): Manifest {
  if (!existsSync(pathOf(directory)))
    throw new StartError(`${directory} does not contain a complete backup: it has no manifest.json`)
  const manifest = JSON.parse(readFileSync(pathOf(directory), 'utf8')) as Manifest
  if (manifest.format !== 1)
    throw new StartError(`${directory} is a backup of a newer version of Footfall`)
  return manifest
}
