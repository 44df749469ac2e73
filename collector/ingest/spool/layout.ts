import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The tables that ingest writes: each has a spool in every worker and one shipper. */
export const spooledTables = ['events', 'rejected_events', 'identity_links'] as const
export type SpooledTable = (typeof spooledTables)[number]

/** A directory with the segments of one table. */
interface TableDirectory {
  table: SpooledTable
  path: string
}

/**
 * Maps directory names to tables. The path is `<spool>/<worker>/<table>`; the first version used
 * `<spool>/<table>`, two of them with other names.
 */
const tables: Readonly<Record<string, SpooledTable>> = {
  events: 'events',
  rejected_events: 'rejected_events',
  identity_links: 'identity_links',
  rejected: 'rejected_events',
  links: 'identity_links',
}

/** Returns the top-level directories of a spool: one for each worker, including those of earlier starts. */
export const spoolParts = (spoolDirectory: string): string[] =>
  existsSync(spoolDirectory)
    ? readdirSync(spoolDirectory, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(spoolDirectory, name))
    : []

/** Returns all directories of segments in a part of a spool, from any version. */
export function tableDirectories(part: string): TableDirectory[] {
  const own = tableOf(part)
  if (own) return [{ table: own, path: part }]
  return spoolParts(part).flatMap((path) => {
    const table = tableOf(path)
    return table ? [{ table, path }] : []
  })
}

/** Returns files in a spool that no version up to this one creates, and that are not shipped. */
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

const tableOf = (path: string): SpooledTable | undefined => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return Object.hasOwn(tables, name) ? tables[name] : undefined
}
