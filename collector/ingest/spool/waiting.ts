import { type Stats, statfsSync, statSync } from 'node:fs'
import {
  spoolBytes,
  spoolFreeBytes,
  spoolMaxBytes,
  spoolOldestSeconds,
} from '../../platform/metrics.ts'
import { type SpooledTable, spooledTables, tableDirectories, workerDirectories } from './layout.ts'
import { segmentsIn } from './segmentFile.ts'

/** When the oldest waiting row of a machine's spool was received; Infinity if none waits. */
export const oldestWaitingAt = (spoolDirectory: string): number =>
  oldestOf(spooledTables.flatMap((table) => waiting(spoolDirectory, table)))

/** Returns the bytes of a machine's spool that ClickHouse does not have yet. */
export const waitingBytes = (spoolDirectory: string): number =>
  spooledTables
    .flatMap((table) => waiting(spoolDirectory, table))
    .reduce((sum, { size }) => sum + size, 0)

/** Updates the metrics of a machine's spool, which may have `bytesMax` bytes, and of its disk. */
export function measureSpool(spoolDirectory: string, bytesMax: number): void {
  const { bavail, bsize } = statfsSync(spoolDirectory)
  spoolMaxBytes.set(bytesMax)
  spoolFreeBytes.set(bavail * bsize)
  for (const table of spooledTables) {
    const segments = waiting(spoolDirectory, table)
    spoolBytes.set(
      { table },
      segments.reduce((sum, { size }) => sum + size, 0),
    )
    const oldest = Math.min(oldestOf(segments), Date.now())
    spoolOldestSeconds.set({ table }, (Date.now() - oldest) / 1000)
  }
}

/** Returns the segments that are not shipped yet. */
const waiting = (spoolDirectory: string, table: SpooledTable): Stats[] =>
  workerDirectories(spoolDirectory)
    .flatMap(tableDirectories)
    .filter((directory) => directory.table === table)
    .flatMap(({ path }) => [...segmentsIn(path, 'open'), ...segmentsIn(path, 'seg')])
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .filter((stat) => stat !== undefined)

/** Returns when the oldest of these began, epoch milliseconds; Infinity without any. */
const oldestOf = (segments: readonly Stats[]): number =>
  Math.min(...segments.map(({ birthtimeMs }) => birthtimeMs))
