import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { Deduplicator } from '../shipper/deduplicator.ts'
import { type ShipObserver, Shipper } from '../shipper/shipper.ts'
import { ShipTurns } from '../shipper/turns.ts'
import { type SpooledTable, spooledTables, tableDirectories } from './layout.ts'
import { recoverSegments, segmentsIn } from './recover.ts'
import { Spool, type SpoolOptions } from './spool.ts'

const segmentBytesMax = 16 * 1024 * 1024
const sealAfterMs = 400
const keepShippedMs = 120_000

/** One worker's spools, below `<spool directory>/<worker>`. */
export type Spools = Record<SpooledTable, Spool>

/** Opens a worker's spools. Their directories must have been recovered (recoverSpool). */
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

export type Shippers = Record<SpooledTable, Shipper>

/**
 * One shipper for each table: the only one of this machine, for all its workers. Those of events of all machines take
 * turns, through the PostgreSQL at `postgresUrl`.
 */
export function openShippers(
  clickhouse: ClickHouse,
  { postgresUrl, collectorId }: { postgresUrl: string; collectorId: string },
  deadLetterDirectory: string,
  observe: (table: SpooledTable) => ShipObserver,
): Shippers {
  const open = (table: SpooledTable, duplicates: Deduplicator | null) =>
    new Shipper({
      clickhouse,
      table,
      duplicates,
      deadLetterDirectory,
      keepShippedMs,
      observe: observe(table),
    })
  return {
    events: open('events', new Deduplicator(clickhouse, new ShipTurns(postgresUrl, collectorId))),
    rejected_events: open('rejected_events', null),
    identity_links: open('identity_links', null),
  }
}

/**
 * Gives what a process that is gone left in a part of a spool to the shippers. At the start of the service nobody knows
 * what of that was inserted; when a worker alone has died, none of it was.
 */
export function recoverSpool(part: string, shippers: Shippers, isServiceStart: boolean): void {
  for (const { table, path } of tableDirectories(part)) {
    const waiting = recoverSegments(path)
    if (isServiceStart) shippers[table].addUncertain([...waiting, ...segmentsIn(path, 'done')])
    else for (const segment of waiting) shippers[table].add(segment)
  }
}

/** Makes a worker's directories, so that it can write to them. */
export function makeSpool(directory: string): void {
  for (const table of spooledTables)
    mkdirSync(join(directory, table), { recursive: true, mode: 0o700 })
}
