import { join } from 'node:path'
import { type Columns, partQuery, type ShownMembers } from '../../../audiences/files/rowsQuery.ts'
import { saveStream } from '../../../audiences/files/saveStream.ts'
import { clickHouseFormats } from '../../../audiences/files/writeFile.ts'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
import type { ChunkFile } from '../../integrations/destinations/destination.ts'
import type { SendDeps } from '../exportsDeps.ts'
import { mappingOf } from '../validateExport.ts'
import type { RunState } from './runState.ts'

const settings = { max_memory_usage: 1024 ** 3, max_execution_time: 300 }

export const chunkPath = ({ temporaryDirectory }: SendDeps, { runId }: RunState): string =>
  join(temporaryDirectory, `export-${runId}`)

/** Writes the members of a chunk to a local file through ClickHouse. Throws RowsDiffer. */
export async function writeChunkFile(
  deps: SendDeps,
  runState: RunState,
  { members, rows }: { members: ShownMembers; rows: number },
  signal: AbortSignal,
): Promise<ChunkFile> {
  const { outputFormat } = runState
  const columns: Columns | undefined =
    outputFormat === 'hem'
      ? { hem: 'hem' }
      : (mappingOf(runState.integration, outputFormat, runState.mapping) ?? undefined)
  const format =
    clickHouseFormats[
      outputFormat === 'hem' ? 'csv' : (outputFormat as 'csv' | 'ndjson' | 'parquet')
    ]
  const clickhouse = clickhouseOf(deps, runState.organizationId)
  const result = await clickhouse.stream(
    partQuery(members, columns ? { columns } : {}),
    format,
    signal,
    settings,
  )
  const path = chunkPath(deps, runState)
  return {
    path,
    ...(await saveStream(result, path, { name: `the file of run ${runState.runId}`, rows })),
  }
}
