import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../../platform/startError.ts'

/**
 * The description of a backup in its manifest.json, which is written last: without it the backup is
 * incomplete.
 */
export interface Manifest {
  format: 1
  /** When it was begun, ISO 8601. */
  created_at: string
  clickhouse: {
    /** The databases, in the places of live and sample data. */
    databases: readonly [live: string, test: string]
    /**
     * Whether it is in the backup's directory. Otherwise the user names its place at the restore, as at the
     * backup.
     */
    is_here: boolean
  }
  postgres: PostgresManifest
}

export interface PostgresManifest {
  /** Those that the database had had. */
  migrations: string[]
  tables: TableManifest[]
  /** Their last values. */
  sequences: { name: string; last_value: string }[]
}

export interface TableManifest {
  name: string
  /** In the order in which the lines have them, with their types. */
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
