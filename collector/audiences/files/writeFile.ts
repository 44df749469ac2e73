import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import type { ClickHouse, NamedFormat } from '../../platform/clickhouse/client.ts'
import { type Lease, withLease } from '../../platform/postgres/lease.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { FileStore } from './fileStore.ts'
import { partQuery, type ShownMembers, shownQuery } from './rowsQuery.ts'
import { RowsDiffer, saveStream } from './saveStream.ts'

export const formats = ['csv', 'ndjson', 'parquet'] as const
/** The format of a file. `csv` has escaped formulas, `csv_unescaped` texts as they are. */
export type FileFormat = (typeof formats)[number] | 'csv_unescaped'

export interface FilePart {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

export interface WriteDeps extends EventStores {
  readonly store: FileStore
  readonly temporaryDirectory: string
  readonly partRows?: number
}

/** Rows per part: with rows of 2,000 bytes, ClickHouse needs half of its memory limit. */
const partRowsMax = 50_000
/** How long a file can be downloaded. */
const keptDays = 7

export const clickHouseFormats: Record<FileFormat, NamedFormat> = {
  csv: 'CSVWithNames',
  csv_unescaped: 'CSVWithNames',
  ndjson: 'JSONEachRow',
  parquet: 'Parquet',
}

interface Task {
  file_id: string
  build_id: string
  format: FileFormat
  entity: 'people' | 'companies'
  organization_id: string
  count: number
  parts: FilePart[]
  /** The fingerprint of the members in `parts` (shownQuery). */
  fingerprint: string | null
}

/**
 * Writes a file's missing parts and publishes it. It can be repeated after any crash, and skips files that
 * are no longer needed. Throws RowsDiffer, and LeaseHeldError when another process writes it.
 */
export async function writeFile(
  deps: WriteDeps,
  fileId: string,
  signal: AbortSignal,
): Promise<void> {
  await withLease(deps.postgres, fileId, async (lease) => {
    const task = await beginFile(deps.postgres, fileId)
    if (task) await writeParts(deps, lease, task, AbortSignal.any([signal, lease.signal]))
  })
}

async function writeParts(
  deps: WriteDeps,
  lease: Lease,
  task: Task,
  signal: AbortSignal,
): Promise<void> {
  const { postgres, store, partRows = partRowsMax } = deps
  const { file_id: fileId } = task
  const clickhouse = clickhouseOf(deps, task.organization_id)
  const verifiedAt = await now(postgres)
  const members: ShownMembers = {
    organizationId: task.organization_id,
    buildId: task.build_id,
    entity: task.entity,
    erased: await erasedHems(postgres, task.organization_id),
  }
  const { fingerprint, rows } = await readShown(clickhouse, members)
  // Parts from before a person was hidden are written again.
  const parts = task.fingerprint === fingerprint ? task.parts : []
  const partCount = Math.max(1, Math.ceil(task.count / partRows))
  let isWanted = true
  for await (const part of twoAtATime(parts.length, partCount, signal, (index, signal) => {
    const keys = { after: index * partRows, upTo: (index + 1) * partRows }
    return writePart(deps, lease, task, { ...members, keys }, index, signal)
  })) {
    parts.push(part)
    const { rowCount } = await lease.inTransaction((client) =>
      client.query(
        `UPDATE audience_files SET parts = $2, shown = $3, updated_at = now()
         WHERE file_id = $1 AND status = 'unloading'`,
        [fileId, JSON.stringify(parts), fingerprint],
      ),
    )
    isWanted = rowCount === 1
    if (!isWanted) break
  }
  // The file was deleted with its audience, or counts as failed, so the stored parts are not needed.
  if (!isWanted) return store.remove(fileId)
  const written = parts.reduce((sum, part) => sum + part.rows, 0)
  if (written !== rows) throw new RowsDiffer(`file ${fileId} has ${written} of ${rows} rows`)
  await lease.inTransaction((client) =>
    client.query(
      `UPDATE audience_files SET status = 'ready', verified_at = $2, updated_at = now(),
         expires_at = now() + make_interval(days => $3)
       WHERE file_id = $1 AND status = 'unloading'`,
      [fileId, verifiedAt, keptDays],
    ),
  )
}

/**
 * Yields the results of `work` for the numbers from `start` up to `end`, in order. Two run at once, so that
 * ClickHouse produces the next one while one is saved. None runs after the end, also after an error.
 */
async function* twoAtATime<T>(
  start: number,
  end: number,
  signal: AbortSignal,
  work: (index: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  const ending = new AbortController()
  const begin = (index: number): Promise<T> | null => {
    if (index >= end) return null
    const made = work(index, AbortSignal.any([signal, ending.signal]))
    made.catch(() => {}) // The loop below awaits this promise later.
    return made
  }
  let next = begin(start)
  try {
    for (let index = start; index < end; index++) {
      const current = next!
      next = begin(index + 1)
      yield await current
    }
  } finally {
    ending.abort()
    await next?.catch(() => {})
  }
}

async function beginFile(postgres: Queryable, fileId: string): Promise<Task | undefined> {
  const { rows } = await postgres.query<Task>(
    `UPDATE audience_files AS file SET status = 'unloading', updated_at = now()
     FROM audience_builds AS build JOIN audiences USING (audience_id) JOIN projects USING (project_id)
     WHERE file_id = $1 AND file.status IN ('pending', 'unloading') AND build.build_id = file.build_id
     RETURNING file_id, file.build_id, format, entity, organization_id, build.count::float8 AS count, parts,
       shown AS fingerprint`,
    [fileId],
  )
  return rows[0]
}

const now = async (postgres: Queryable): Promise<Date> =>
  (await postgres.query<{ now: Date }>('SELECT now()')).rows[0]!.now

/** Returns the number of visible members, and their fingerprint. */
export async function readShown(
  clickhouse: ClickHouse,
  members: ShownMembers,
): Promise<{ fingerprint: string; rows: number }> {
  return (await clickhouse.rows<{ fingerprint: string; rows: number }>(shownQuery(members)))[0]!
}

/**
 * ClickHouse's limits for writing a part. With rows of 2,000 bytes, it keeps the part in memory until it is sent. A
 * larger part takes a temporary file, which costs more.
 */
const partSettings = {
  max_memory_usage: 1024 ** 3,
  max_execution_time: 300,
  buffer_size: 128 * 1024 ** 2,
}

/** Writes one part under a temporary name, checks its rows, and stores it. */
async function writePart(
  deps: WriteDeps,
  lease: Lease,
  { file_id, format, organization_id }: Task,
  members: ShownMembers,
  index: number,
  signal: AbortSignal,
): Promise<FilePart> {
  const { store, temporaryDirectory } = deps
  const clickhouse = clickhouseOf(deps, organization_id)
  const name = `part-${String(index + 1).padStart(4, '0')}.${format.replace('_unescaped', '')}`
  const path = join(temporaryDirectory, `${randomUUID()}-${name}`)
  const { rows } = await readShown(clickhouse, members)
  const result = await clickhouse.stream(
    partQuery(members, { escapesFormulas: format === 'csv' }),
    clickHouseFormats[format],
    signal,
    partSettings,
  )
  const { bytes, sha256 } = await saveStream(result, path, { name, rows })
  try {
    // Two processes give a part the same name, so only the holder of the lease stores it.
    await lease.renew()
    await store.save(file_id, name, path)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
  return { name, rows, bytes, sha256 }
}
