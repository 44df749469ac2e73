import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { Deduplicator } from '../shipper/deduplicator.ts'
import { type ShipObserver, Shipper } from '../shipper/shipper.ts'
import { ShipTurns } from '../shipper/turns.ts'
import { recoverSegments, segmentsIn } from './recover.ts'
import { Spool, type SpoolOptions } from './spool.ts'

/** The tables that ingest writes: each has a spool in every worker and one shipper. */
export const spooledTables = ['events', 'rejected_events', 'identity_links'] as const
export type SpooledTable = (typeof spooledTables)[number]

const segmentBytesMax = 16 * 1024 * 1024
const sealAfterMs = 400
const keepShippedMs = 120_000

/** One worker's spools, below `<spool directory>/<worker>`. */
export type Spools = Record<SpooledTable, Spool>

/** Opens a worker's spools. Their directories must have been recovered (recoverWorker). */
export function openSpools(
  directory: string,
  { bytesMax, receivedFrom }: Pick<SpoolOptions, 'bytesMax' | 'receivedFrom'>,
  on: {
    sealed: (table: SpooledTable, path: string) => void
    commit: (table: SpooledTable, rows: number) => void
  },
): Spools {
  const open = (table: SpooledTable) =>
    new Spool({
      directory: join(directory, table),
      segmentBytesMax,
      sealAfterMs,
      bytesMax,
      receivedFrom,
      onSealed: (path) => on.sealed(table, path),
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
 * Makes a worker's directories ready for it and gives what its predecessor left to the shippers. At the start of
 * the service nobody knows what of that was inserted; when a worker alone has died, none of it was.
 */
export function recoverWorker(directory: string, shippers: Shippers, isServiceStart: boolean): void {
  for (const table of spooledTables) {
    const path = join(directory, table)
    const waiting = recoverSegments(path)
    if (isServiceStart) shippers[table].addUncertain([...waiting, ...segmentsIn(path, 'done')])
    else for (const segment of waiting) shippers[table].add(segment)
  }
}

/** The workers' directories below the spool directory, also those of an earlier start with more workers. */
export const workerDirectories = (spoolDirectory: string): string[] =>
  existsSync(spoolDirectory) ? readdirSync(spoolDirectory).map((name) => join(spoolDirectory, name)) : []
