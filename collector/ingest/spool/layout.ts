import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The tables that ingest writes: each has a spool in every worker and one shipper. */
export const spooledTables = ['events', 'rejected_events', 'identity_links'] as const
export type SpooledTable = (typeof spooledTables)[number]

interface TableDirectory {
  table: SpooledTable
  path: string
}

/** Returns the directories of the workers in a spool, including those of earlier starts. */
export const workerDirectories = (spoolDirectory: string): string[] =>
  subdirectoriesOf(spoolDirectory)

/** Returns the directories of segments of a worker: `<spool>/<worker>/<table>`. */
export function tableDirectories(workerDirectory: string): TableDirectory[] {
  return subdirectoriesOf(workerDirectory).flatMap((path) => {
    const table = tableOf(path)
    return table ? [{ table, path }] : []
  })
}

/** Returns files in a spool that this version does not create, and that are not shipped. */
export function unknownFiles(spoolDirectory: string): string[] {
  if (!existsSync(spoolDirectory)) return []
  const tablePaths = new Set(
    workerDirectories(spoolDirectory)
      .flatMap(tableDirectories)
      .map(({ path }) => path),
  )
  return readdirSync(spoolDirectory, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .filter(
      ({ parentPath, name }) =>
        !tablePaths.has(parentPath) || !/\.(spare|open|seg|done)$/.test(name),
    )
    .map(({ parentPath, name }) => join(parentPath, name))
}

const tableOf = (path: string): SpooledTable | undefined =>
  spooledTables.find((table) => table === basename(path))

const subdirectoriesOf = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(path, name))
    : []
