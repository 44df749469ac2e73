import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { EventLog } from '../log/eventLog.ts'
import { type SpooledTable, spooledTables } from './layout.ts'
import { Spool, type SpoolOptions } from './spool.ts'

const segmentBytesMax = 16 * 1024 * 1024
const sealAfterMs = 400

export type EventLogs = Record<SpooledTable, EventLog>

/** The spools of one worker, below `<spool directory>/<worker>`. */
export type Spools = Record<SpooledTable, Spool>

/** Opens a worker's spools. Their directories must have been recovered (recoverSpool in shipper/shippers.ts). */
export function openSpools(
  directory: string,
  { bytesMax, receivedFrom, clock }: Pick<SpoolOptions, 'bytesMax' | 'receivedFrom' | 'clock'>,
  on: {
    sealed: (table: SpooledTable, path: string) => void
    commit: (table: SpooledTable, rows: number) => void
    noRoom: () => void
  },
): Spools {
  const open = (table: SpooledTable) =>
    new Spool({
      directory: join(directory, table),
      segmentBytesMax,
      sealAfterMs,
      bytesMax,
      receivedFrom,
      clock,
      onSealed: (path) => on.sealed(table, path),
      onNoRoom: on.noRoom,
      onCommit: (rows) => on.commit(table, rows),
    })
  return {
    events: open('events'),
    rejected_events: open('rejected_events'),
    identity_links: open('identity_links'),
  }
}

export function makeSpool(directory: string): void {
  for (const table of spooledTables)
    mkdirSync(join(directory, table), { recursive: true, mode: 0o700 })
}
