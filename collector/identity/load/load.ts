import { createHash, randomUUID } from 'node:crypto'
import { ahead } from '../../platform/ahead.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { StartError } from '../../platform/startError.ts'
import { openChunkReader } from './chunkReader.ts'
import { inferColumns } from './inferColumns.ts'
import { insertChunk } from './insertChunk.ts'
import { formatMapping, type Mapping } from './mapping.ts'
import { openRejectedFile } from './rejectedFile.ts'
import type { Source } from './source.ts'
import { dropStage, openStage, publish } from './stage.ts'
import type { Shape } from './statements.ts'
import type { Target } from './targets.ts'

export interface LoadRequest {
  readonly target: Target
  readonly sources: readonly Source[]
  readonly mapping: Mapping
  readonly ignoreUnknown: boolean
  /** Owner of the rows; the zero UUID for shared rows. */
  readonly organization: string
  /** True: deletes all earlier loaded rows. False: rows replace earlier rows with the same key. */
  readonly replace: boolean
  readonly rejectedPath: string
}

export interface Progress {
  readonly rows: number
  readonly rejected: number
  /** Compressed bytes of all files: completed files, and the read part of the current file. */
  readonly bytes: number
}

export interface Loaded {
  readonly rows: number
  readonly rejected: number
  /** Whether an earlier, interrupted run of the same command completed a part. */
  readonly isResumed: boolean
}

/**
 * Loads files into a table. Readers see all rows or none. The same request continues an interrupted load, and
 * repeats a finished one, whose rows replace the same rows. Throws StartError for files that cannot be
 * loaded, and then leaves the table unchanged.
 */
export async function load(
  store: ClickHouse,
  request: LoadRequest,
  onProgress: (progress: Progress) => void,
): Promise<Loaded> {
  // Always the same server of a cluster, because only it has the staging tables.
  const clickhouse = store.nodes[0]!
  for (const forgotten of await readForgotten(clickhouse)) await dropStage(clickhouse, forgotten)
  const loadId = idOf(request)
  const unfinished = await readUnfinished(clickhouse, loadId)
  let state = unfinished ?? newState(loadId, request)
  if (!unfinished) await saveState(clickhouse, state)
  if (state.phase === 'staging') {
    state = await stageFiles(clickhouse, request, state, onProgress).catch(async (error) => {
      if (error instanceof StartError) await forgetUseless(clickhouse, request, loadId)
      throw error
    })
    if (state.rows === 0) {
      await finish(clickhouse, state)
      throw new StartError(
        `no row is valid (${state.rejected} rejected, see ${request.rejectedPath})`,
      )
    }
    state = { ...state, phase: 'publishing' }
    await saveState(clickhouse, state)
  }
  await publish(clickhouse, loadId, request)
  await request.target.reload?.(store)
  await finish(clickhouse, state)
  return { rows: state.rows, rejected: state.rejected, isResumed: unfinished !== null }
}

async function finish(clickhouse: ClickHouse, state: LoadState): Promise<void> {
  await saveState(clickhouse, { ...state, phase: 'done' })
  await dropStage(clickhouse, state.load_id)
}

/** Deletes a load that cannot continue (standard input), or that has read nothing. */
async function forgetUseless(
  clickhouse: ClickHouse,
  { sources }: LoadRequest,
  loadId: string,
): Promise<void> {
  const state = await readUnfinished(clickhouse, loadId)
  const isOnce = sources.some(({ identity }) => identity === null)
  if (state && (isOnce || (state.file === 0 && state.bytes === 0))) await finish(clickhouse, state)
}

/** An id that is equal for the same files, loaded in the same way into the same columns. */
function idOf({ target, sources, mapping, organization, replace }: LoadRequest): string {
  const facts = [
    target.table,
    target.fields,
    formatMapping(mapping),
    organization,
    replace,
    sources.map(({ identity, format }) => [identity ?? randomUUID(), format]),
  ]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 24)
}

const newState = (loadId: string, { target }: LoadRequest): LoadState => ({
  load_id: loadId,
  target: target.table,
  started_at: new Date().toISOString(),
  phase: 'staging',
  file: 0,
  bytes: 0,
  lines: 0,
  rows: 0,
  rejected: 0,
  rejected_bytes: 0,
})

async function stageFiles(
  clickhouse: ClickHouse,
  request: LoadRequest,
  from: LoadState,
  onProgress: (progress: Progress) => void,
): Promise<LoadState> {
  const { sources, rejectedPath, ignoreUnknown } = request
  const stage = await openStage(clickhouse, from.load_id, request.target)
  const rejectedFile = openRejectedFile(rejectedPath, from.rejected_bytes)
  const params = { started: from.started_at, organization: request.organization }
  let state = from
  for (const [index, source] of sources.entries()) {
    if (index < state.file) continue
    if (index > state.file) state = { ...state, file: index, bytes: 0, lines: 0 }
    const bytesBefore = sources.slice(0, index).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
    const { header, chunks } = await openChunkReader(source, state)
    let shape: Shape | null = null
    onProgress({ ...state, bytes: bytesBefore })
    for await (const chunk of ahead(chunks)) {
      shape ??= await inferColumns(
        clickhouse,
        { ...source, header, bytes: chunk.bytes },
        { ...request, params },
      )
      const { rows, rejected } = await insertChunk(
        { clickhouse, stage, shape, source, ignoreUnknown },
        chunk,
      )
      state = {
        ...state,
        bytes: chunk.end.bytes,
        lines: chunk.end.lines,
        rows: state.rows + rows,
        rejected: state.rejected + rejected.length,
        rejected_bytes: rejectedFile.append(rejected),
      }
      await saveState(clickhouse, state)
      onProgress({ ...state, bytes: bytesBefore + source.position() })
    }
  }
  return state
}

/** The progress of a load: its row of identity_loads. */
interface LoadState {
  readonly load_id: string
  readonly target: string
  /** ISO time; the version of the load's rows. */
  readonly started_at: string
  readonly phase: 'staging' | 'publishing' | 'done'
  /** The current file, and its completed bytes and lines. */
  readonly file: number
  readonly bytes: number
  readonly lines: number
  /** Totals of all files. */
  readonly rows: number
  readonly rejected: number
  readonly rejected_bytes: number
}

/** Loads that may continue: a load that was not resumed for a week is deleted. */
const unfinished =
  "SELECT * EXCEPT updated_at FROM identity_loads FINAL WHERE phase != 'done' AND updated_at > now() - INTERVAL 7 DAY"

async function readUnfinished(clickhouse: ClickHouse, loadId: string): Promise<LoadState | null> {
  const [state] = await clickhouse.rows<LoadState>({
    sql: `${unfinished} AND load_id = {loadId:String}`,
    params: { loadId },
  })
  return state ?? null
}

async function saveState(clickhouse: ClickHouse, state: LoadState): Promise<void> {
  const columns = Object.keys(state)
  await clickhouse.command({
    sql: `INSERT INTO identity_loads (${columns.join(', ')}, updated_at)
          SELECT ${columns.map((column) => `{${column}:String}`).join(', ')}, now64(3)`,
    params: { ...state },
  })
}

/** Returns the ids of loads that have tables but can no longer continue. */
async function readForgotten(clickhouse: ClickHouse): Promise<string[]> {
  const forgotten = await clickhouse.rows<{ id: string }>({
    sql: `SELECT DISTINCT extract(name, '^load_([0-9a-f]+)') AS id FROM system.tables
          WHERE database = currentDatabase() AND id != '' AND id NOT IN (SELECT load_id FROM (${unfinished}))`,
  })
  return forgotten.map(({ id }) => id)
}
