import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The tables that ingest writes: each has a spool in every worker and one shipper. */
export const spooledTables = ['events', 'rejected_events', 'identity_links'] as const
export type SpooledTable = (typeof spooledTables)[number]

/** A directory with the segments of one table. */
interface TableDirectory {
  table: SpooledTable
  path: string
}

/** Returns the top-level directories of a spool: one for each worker, including those of earlier starts. */
export const spoolParts = (spoolDirectory: string): string[] =>
  existsSync(spoolDirectory)
    ? readdirSync(spoolDirectory, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(spoolDirectory, name))
    : []

/** Returns the directories of segments in a part of a spool: `<spool>/<worker>/<table>`. */
export function tableDirectories(part: string): TableDirectory[] {
  return spoolParts(part).flatMap((path) => {
    const table = tableOf(path)
    return table ? [{ table, path }] : []
  })
}

/** Returns files in a spool that this version does not create, and that are not shipped. */
export function unknownFiles(spoolDirectory: string): string[] {
  if (!existsSync(spoolDirectory)) return []
  const known = new Set(
    spoolParts(spoolDirectory)
      .flatMap(tableDirectories)
      .map(({ path }) => path),
  )
  return readdirSync(spoolDirectory, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .filter(
      ({ parentPath, name }) => !known.has(parentPath) || !/\.(spare|open|seg|done)$/.test(name),
    )
    .map(({ parentPath, name }) => join(parentPath, name))
}

const tableOf = (path: string): SpooledTable | undefined =>
  spooledTables.find((table) => table === basename(path))
