import { StartError } from '../../platform/startError.ts'
import { type ObjectStore, objectName, readObject } from './objectStore.ts'

/** The description of a backup, which is written last: objects without it are of no backup, or of an interrupted one. */
export interface Manifest {
  format: 2
  /** The version of Footfall that wrote it. */
  version: string
  /** When the backup began, ISO 8601. */
  created_at: string
  /** All events that were received before this time are in the backup, ISO 8601. Null if no collector has run. */
  complete_until: string | null
  /** When a backup last read all objects that it kept from earlier ones, ISO 8601. */
  verified_at: string
  clickhouse: ClickHouseManifest
  postgres: PostgresManifest
  /** The files of the data directory of the machine that ran the command. */
  files: FileManifest[]
}

export interface ClickHouseManifest {
  shards: number
  migrations: Record<DatabaseKind, string[]>
  tables: ClickHouseTable[]
}

/** The database of visitors' events, or that of test keys. */
export type DatabaseKind = 'live' | 'test'

export interface ClickHouseTable {
  database: DatabaseKind
  /** Name of the table; `events` also with several shards. */
  name: string
  /** From 0. */
  shard: number
  columns: Column[]
  chunks: { object: string; rows: number }[]
}

export interface Column {
  name: string
  type: string
}

export interface PostgresManifest {
  migrations: string[]
  tables: PostgresTable[]
  /** The sequences with their last values. */
  sequences: { name: string; last_value: string }[]
}

export interface PostgresTable {
  name: string
  /** The columns with their types, in the order of the lines. */
  columns: Column[]
  rows: number
  objects: string[]
}

/** A file, cut into objects. */
export interface FileManifest {
  /** Below the data directory. */
  path: string
  objects: string[]
}

/** Returns all objects of a backup, each once. */
export const objectsOf = ({ clickhouse, postgres, files }: Manifest): string[] => [
  ...new Set([
    ...clickhouse.tables.flatMap(({ chunks }) => chunks.map(({ object }) => object)),
    ...postgres.tables.flatMap(({ objects }) => objects),
    ...files.flatMap(({ objects }) => objects),
  ]),
]

export interface StoredBackup {
  /** Its time without punctuation that file names cannot have: 2026-11-27T12-33-00-123Z. */
  readonly id: string
  /** Name of its manifest. */
  readonly file: string
}

/** Writes the manifest, which completes the backup. */
export async function writeManifest(store: ObjectStore, manifest: Manifest): Promise<StoredBackup> {
  const id = manifest.created_at.replaceAll(/[:.]/g, '-')
  const bytes = Buffer.from(JSON.stringify(manifest))
  const file = objectName(id, bytes)
  await store.put('backups', file, bytes)
  return { id, file }
}

/** Returns the complete backups of a store, the newest first. */
export async function listBackups(store: ObjectStore): Promise<StoredBackup[]> {
  const files = [...(await store.list('backups')).keys()]
  return files
    .filter((file) => /^[\dTZ-]+\.[0-9a-f]{64}\.\d+$/.test(file))
    .toSorted()
    .reverse()
    .map((file) => ({ id: file.split('.', 1)[0]!, file }))
}

/** Finds a backup by its id, or the newest one. Throws StartError if there is none. */
export async function findBackup(store: ObjectStore, id?: string): Promise<StoredBackup> {
  const backups = await listBackups(store)
  const found = id === undefined ? backups[0] : backups.find((backup) => backup.id === id)
  if (found) return found
  if (id !== undefined && backups.length > 0)
    throw new StartError(
      `${store.place} has no backup ${id}: it has ${backups.map((backup) => backup.id).join(', ')}`,
    )
  const old = await store.list('objects')
  throw new StartError(
    `${store.place} contains no complete backup${old.size > 0 ? ', only parts of one that did not finish: run npx footfall-server backup again' : ''}`,
  )
}

/** Throws StartError if the manifest is missing or damaged, or if a newer version wrote it. */
export async function readManifest(store: ObjectStore, { file }: StoredBackup): Promise<Manifest> {
  const manifest = JSON.parse(String(await readObject(store, 'backups', file))) as {
    format: number
    version: string
  }
  if (manifest.format !== 2)
    throw new StartError(
      `backups/${file} was written by Footfall ${manifest.version}, which is newer: restore it with that version`,
    )
  return manifest as Manifest
}
