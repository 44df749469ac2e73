import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type SpooledTable, tableDirectories } from '../spool/layout.ts'
import { recoverSegments, segmentsIn } from '../spool/recover.ts'
import { Deduplicator } from './deduplicator.ts'
import { ShipLeases } from './shipLeases.ts'
import { type ShipObserver, Shipper } from './shipper.ts'

const keepShippedMs = 120_000

export type Shippers = Record<SpooledTable, Shipper>

/**
 * Opens one shipper for each table, for all workers of this machine. The shippers of events of all machines share one
 * lease, through the PostgreSQL at `postgresUrl`.
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
    events: open('events', new Deduplicator(clickhouse, new ShipLeases(postgresUrl, collectorId))),
    rejected_events: open('rejected_events', null),
    identity_links: open('identity_links', null),
  }
}

/**
 * Passes the segments of an ended process in a part of a spool to the shippers. At the start of the service,
 * some may have been inserted; after the death of a worker alone, none was.
 */
export function recoverSpool(part: string, shippers: Shippers, isServiceStart: boolean): void {
  for (const { table, path } of tableDirectories(part)) {
    const waiting = recoverSegments(path)
    if (isServiceStart) shippers[table].addUncertain([...waiting, ...segmentsIn(path, 'done')])
    else for (const segment of waiting) shippers[table].add(segment)
  }
}
