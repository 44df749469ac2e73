import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Columns, partQuery, type ShownMembers } from '../../audiences/files/rowsQuery.ts'
import { clickHouseFormats } from '../../audiences/files/writeFile.ts'
import type { ChunkFile } from '../../integrations/destinations/destination.ts'
import { clickhouseOf } from '../../query/eventStores.ts'
import type { SendDeps } from '../deps.ts'
import { mappingOf } from '../validate.ts'
import type { Task } from './task.ts'

/** The file has other rows than were to be sent: somebody was hidden meanwhile, so the chunk is begun anew. */
export class RowsDiffer extends Error {}

const settings = { max_memory_usage: 1024 ** 3, max_execution_time: 300 }

export const chunkPath = ({ temporaryDirectory }: SendDeps, { runId }: Task): string =>
  join(temporaryDirectory, `export-${runId}`)

/** Has ClickHouse write the members of a chunk to a file on this machine. Throws RowsDiffer. */
export async function writeChunkFile(
  deps: SendDeps,
  task: Task,
  { members, rows }: { members: ShownMembers; rows: number },
  signal: AbortSignal,
): Promise<ChunkFile> {
  const { outputFormat } = task
  const columns: Columns | undefined =
    outputFormat === 'hem'
      ? { hem: 'hem' }
      : (mappingOf(task.integration, outputFormat, task.mapping) ?? undefined)
  const format =
    clickHouseFormats[outputFormat === 'hem' ? 'csv' : (outputFormat as 'csv' | 'ndjson' | 'parquet')]
  const clickhouse = clickhouseOf(deps, task.organizationId)
  const result = await clickhouse.stream(partQuery(members, columns), format, signal, settings)
  const path = chunkPath(deps, task)
  const sha256 = createHash('sha256')
  let bytes = 0
  try {
    await mkdir(deps.temporaryDirectory, { recursive: true, mode: 0o700 })
    const file = await open(path, 'w', 0o600)
    try {
      for await (const piece of result.body) {
        await file.write(piece)
        sha256.update(piece)
        bytes += piece.length
      }
    } finally {
      await file.close()
    }
    if (result.rows !== rows)
      throw new RowsDiffer(`the file of run ${task.runId} has ${result.rows} of ${rows} rows`)
  } catch (error) {
    result.body.destroy()
    await rm(path, { force: true })
    throw error
  }
  return { path, bytes, sha256: sha256.digest('hex') }
}
