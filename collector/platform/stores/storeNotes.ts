import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouseAddress } from '../clickhouse/cluster.ts'

/**
 * Addresses of the stores of a running service: `stores.json` of its data directory, for commands that run
 * next to it.
 */
export interface StoreNotes {
  clickhouse_url: ClickHouseAddress
  clickhouse_database: string
  postgres_url: string
  public_url: string
  collector_url: string
}

export const storeNotesPath = (dataDir: string): string => join(dataDir, 'stores.json')

export function writeStoreNotes(dataDir: string, notes: StoreNotes): void {
  writeFileSync(storeNotesPath(dataDir), `${JSON.stringify(notes, null, 2)}\n`, { mode: 0o600 })
}

/** Null where no service has noted them yet. */
export function readStoreNotes(dataDir: string): StoreNotes | null {
  const path = storeNotesPath(dataDir)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}
