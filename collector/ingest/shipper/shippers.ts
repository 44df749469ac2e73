import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type SpooledTable, tableDirectories } from '../spool/layout.ts'
import { recoverSegments, segmentsIn } from '../spool/segmentFile.ts'
import { Deduplicator } from './deduplicator.ts'
import { ShipLeases } from './shipLeases.ts'
import { verifiedStartsIn } from './shippedBatches.ts'
import { type ShipObserver, Shipper } from './shipper.ts'

/** How long shipped rows are kept, in case ClickHouse loses them in a crash. */
export const keepShippedMs = 120_000

/** Takes the sealed segments of one table out of the spools of this machine. */
interface SegmentShipper {
  readonly backlog: number
  /** When the first row that is not certainly in ClickHouse was received, epoch milliseconds; Infinity: all are. */
  readonly lowMark: number
  /** The earliest time of receipt of shipped rows that it may ship again, epoch milliseconds; Infinity: none. */
  readonly repeatsFrom: number
  /** Queues a segment that no process has tried to ship. */
  add(path: string): void
  /** Queues segments of an earlier process, shipped or not. */
  addUncertain(paths: readonly string[]): void
  /** Checks whether ClickHouse has restarted. */
  noticeRestart(): Promise<void>
  /** Deletes shipped segments that are still kept. */
  makeRoom(): void
  stop(timeoutMs: number): Promise<void>
}

export type SegmentShippers = Record<SpooledTable, SegmentShipper>

/**
 * Opens one shipper for each table, for all workers of this machine. The shippers of events of all machines share one
 * lease, through the PostgreSQL at `postgresUrl`. `startsFile` remembers which servers have the events.
 */
export function openShippers(
  clickhouse: ClickHouse,
  {
    postgresUrl,
    collectorId,
    startsFile,
  }: { postgresUrl: string; collectorId: string; startsFile?: string },
  deadLetterDirectory: string,
  observe: (table: SpooledTable) => ShipObserver,
): SegmentShippers {
  const open = (table: SpooledTable, duplicates: Deduplicator | null) =>
    new Shipper({
      clickhouse,
      table,
      duplicates,
      deadLetterDirectory,
      keepShippedMs,
      ...(table === 'events' && startsFile && { verified: verifiedStartsIn(startsFile) }),
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
export function recoverSpool(
  part: string,
  shippers: SegmentShippers,
  isServiceStart: boolean,
): void {
  for (const { table, path } of tableDirectories(part)) {
    const waiting = recoverSegments(path)
    if (isServiceStart) shippers[table].addUncertain([...waiting, ...segmentsIn(path, 'done')])
    else for (const segment of waiting) shippers[table].add(segment)
  }
}
