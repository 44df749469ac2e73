import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouseAddress } from '../clickhouse/cluster.ts'

/** `stores.json` of a running service, for commands on the same machine. */
export interface StoreNotes {
  clickhouse_url: ClickHouseAddress
  clickhouse_database: string
  postgres_url: string
  public_url: string
  collector_url: string
  pid: number
}

export const storeNotesPath = (dataDir: string): string => join(dataDir, 'stores.json')

export function writeStoreNotes(dataDir: string, notes: Omit<StoreNotes, 'pid'>): void {
  const all: StoreNotes = { ...notes, pid: process.pid }
  writeFileSync(storeNotesPath(dataDir), `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
}

/** Reads the addresses; null if no service has written them yet. */
export function readStoreNotes(dataDir: string): StoreNotes | null {
  const path = storeNotesPath(dataDir)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}
