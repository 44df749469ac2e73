import { join } from 'node:path'
import { type Columns, partQuery, type ShownMembers } from '../../../audiences/files/rowsQuery.ts'
import { saveStream } from '../../../audiences/files/saveStream.ts'
import { clickHouseFormats } from '../../../audiences/files/writeFile.ts'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
import type { ChunkFile } from '../../integrations/destinations/destination.ts'
import type { SendDeps } from '../exportsDeps.ts'
import { mappingOf } from '../validateExport.ts'
import type { Task } from './task.ts'

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
    clickHouseFormats[
      outputFormat === 'hem' ? 'csv' : (outputFormat as 'csv' | 'ndjson' | 'parquet')
    ]
  const clickhouse = clickhouseOf(deps, task.organizationId)
  const result = await clickhouse.stream(partQuery(members, columns), format, signal, settings)
  const path = chunkPath(deps, task)
  return {
    path,
    ...(await saveStream(result, path, { name: `the file of run ${task.runId}`, rows })),
  }
}
