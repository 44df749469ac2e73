import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError, notFound } from '../../api/http/errors.ts'
import { type Allowance, freeNumber } from '../../billing/allowance.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import { emit } from '../../platform/outbox/outbox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { ImportFile } from './file/importFile.ts'
import type { FilePosition } from './file/readChunk.ts'
import type { Kind } from './kinds.ts'
import type { ListImport } from './listSchemas.ts'

/** The counters of an import. Matches are free numbers. */
const counters = `rows_total::float8 AS rows_total,
  ${freeNumber('rows_matched::float8', 'list_imports')} AS rows_matched,
  ${freeNumber('(rows_added - rows_matched)::float8', 'list_imports')} AS rows_unmatched,
  rows_duplicate::float8 AS rows_duplicate, rows_rejected::float8 AS rows_rejected`

interface Matches {
  rows_matched: number | null
  rows_unmatched: number | null
}

/** A row with its matches, or without them while they are not shown. */
const withMatches = <Row extends Matches>({
  rows_matched,
  rows_unmatched,
  ...row
}: Row): Omit<Row, keyof Matches> & { rows_matched?: number; rows_unmatched?: number } => ({
  ...row,
  ...(rows_matched !== null && { rows_matched, rows_unmatched: rows_unmatched! }),
})

export const listImports = 'lists.imports'

export interface PendingImport {
  readonly importId: string
  readonly listId: string
  readonly organizationId: string
  readonly kind: Kind
  readonly file: ImportFile
  readonly at: FilePosition
  readonly rows: number
}

/** Stores an import whose file is on the disk under its id; the import waits from then on. */
export async function storeImport(
  client: Queryable,
  {
    importId,
    listId,
    collectorId,
    file,
    begin,
  }: {
    importId: string
    listId: string
    collectorId: string
    file: ImportFile
    begin: FilePosition
  },
): Promise<void> {
  await client.query(
    `INSERT INTO list_imports (import_id, list_id, collector_id, file, bytes_done, lines_done)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [importId, listId, collectorId, JSON.stringify(file), begin.bytes, begin.lines],
  )
  await wakeQueue(client, listImports)
}

/** Most waiting imports of an organization, most bytes of their files, and the retry time beyond that. */
const waitingMax = 1_000
const waitingBytesMax = 4 * 1024 ** 3
const waitingSeconds = 60

/**
 * Throws 429 "rate_limited" if an organization has too many waiting imports, or if their files and those that arrive
 * are too large. All organizations share the disk of a machine.
 */
export async function requireFewWaiting(
  client: Queryable,
  organizationId: string,
  arrivingBytes: number,
): Promise<void> {
  const { rows } = await client.query<{ imports: number; bytes: number }>(
    `SELECT count(*)::int AS imports, coalesce(sum((file->>'bytes')::float8), 0) AS bytes FROM (
       SELECT file FROM list_imports JOIN lists USING (list_id) JOIN projects USING (project_id)
       WHERE organization_id = $1 AND status IN ('pending', 'processing') LIMIT $2) AS waiting`,
    [organizationId, waitingMax],
  )
  const { imports, bytes } = rows[0]!
  if (imports >= waitingMax)
    throw tooManyWaiting(
      `${waitingMax} of your imports are waiting. Wait, or combine rows into one file.`,
    )
  if (bytes + arrivingBytes >= waitingBytesMax)
    throw tooManyWaiting(
      `Your uploads and waiting imports have more than ${waitingBytesMax / 1024 ** 3} GiB, unpacked. Wait until some imports have ended.`,
    )
}

const tooManyWaiting = (message: string) =>
  new ApiError(429, 'rate_limited', message, {
    headers: { 'retry-after': String(waitingSeconds) },
  })

/** An unfinished import, and the machine with its file; null: any machine. */
interface UnfinishedImport {
  readonly importId: string
  readonly collectorId: string | null
}

/** For each organization and machine the import that runs or waits longest: none delays others. */
export async function readUnfinishedImports(client: Queryable): Promise<UnfinishedImport[]> {
  const { rows } = await client.query<UnfinishedImport>(
    `SELECT import_id AS "importId", collector_id AS "collectorId" FROM (
       SELECT DISTINCT ON (organization_id, collector_id) import_id, collector_id
       FROM list_imports JOIN lists USING (list_id) JOIN projects USING (project_id)
       WHERE status IN ('pending', 'processing') ORDER BY organization_id, collector_id, import_id
     ) AS first ORDER BY import_id LIMIT 1000`,
  )
  return rows
}

/** After this silence, a machine counts as lost. */
const silentDays = 3

export const failLostImports = (postgres: Postgres): Promise<void> =>
  fail(
    postgres,
    'The machine with the uploaded file is offline. Upload the file again.',
    `collector_id IS NOT NULL AND updated_at < now() - make_interval(days => $2) AND NOT EXISTS (
       SELECT FROM collectors WHERE collectors.collector_id = list_imports.collector_id
         AND reported_at > now() - make_interval(days => $2))`,
    silentDays,
  )

/** Fails an import: none of its rows are members. People can read `reason`. */
export const failImport = (postgres: Postgres, importId: string, reason: string): Promise<void> =>
  fail(postgres, reason, 'import_id = $2', importId)

/** Fails the unfinished imports that meet a condition over `$2`. */
async function fail(
  postgres: Postgres,
  reason: string,
  condition: string,
  value: unknown,
): Promise<void> {
  await inTransaction(postgres, async (client) => {
    const { rows } = await client.query<{ import_id: string }>(
      `UPDATE list_imports SET status = 'failed', error = $1, completed_at = now(), updated_at = now()
       WHERE status IN ('pending', 'processing') AND ${condition} RETURNING import_id`,
      [reason, value],
    )
    for (const { import_id } of rows) await tellEnded(client, import_id)
  })
}

/** Emits the end of an import to webhooks. Call it in the transaction that ends it. */
async function tellEnded(client: Queryable, importId: string): Promise<void> {
  const { rows } = await client.query<Matches & { organizationId: string; project_id: string }>(
    `SELECT organization_id AS "organizationId", project_id, list_id, lists.name, import_id, status, ${counters}, error
     FROM list_imports JOIN lists USING (list_id) JOIN projects USING (project_id) WHERE import_id = $1`,
    [importId],
  )
  for (const { organizationId, ...row } of rows) {
    const data = withMatches(row)
    await emit(client, { organizationId, projectId: row.project_id, type: 'list.imported', data })
  }
}

/** Begins or continues an import; undefined if it has ended, or was deleted with its list. */
export async function beginImport(
  client: Queryable,
  importId: string,
): Promise<PendingImport | undefined> {
  const { rows } = await client.query<{
    list_id: string
    organization_id: string
    kind: Kind
    file: ImportFile
    bytes: number
    lines: number
    rows: number
  }>(
    `UPDATE list_imports AS import SET status = 'processing', updated_at = now()
     FROM lists JOIN projects USING (project_id)
     WHERE import_id = $1 AND status IN ('pending', 'processing') AND lists.list_id = import.list_id
     RETURNING import.list_id, organization_id, kind, file, bytes_done::float8 AS bytes, lines_done::float8 AS lines,
       rows_done::float8 AS rows`,
    [importId],
  )
  const row = rows[0]
  return (
    row && {
      importId,
      listId: row.list_id,
      organizationId: row.organization_id,
      kind: row.kind,
      file: row.file,
      at: { bytes: row.bytes, lines: row.lines },
      rows: row.rows,
    }
  )
}

/** Another process runs the same import, although it counted as dead, or the import was deleted. */
class ImportUnderWay extends Error {}

/** Records the progress of an import. Throws ImportUnderWay if its position has changed. */
export async function noteProgress(
  client: Queryable,
  importId: string,
  from: FilePosition,
  { at, rows }: { at: FilePosition; rows: number },
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE list_imports SET bytes_done = $3, lines_done = $4, rows_done = $5, updated_at = now()
     WHERE import_id = $1 AND status = 'processing' AND bytes_done = $2`,
    [importId, from.bytes, at.bytes, at.lines, rows],
  )
  if (rowCount === 0)
    throw new ImportUnderWay(`import ${importId} was deleted, or is running elsewhere`)
}

export interface RowCounts {
  readonly total: number
  /** Rows that add a member whom a lookup returns, or a browser of a known person. */
  readonly matched: number
  /** Rows that add another member. */
  readonly unmatched: number
  /** Rows whose member is in an earlier row, or already in the list. */
  readonly duplicate: number
  readonly rejected: number
}

/**
 * Completes an import whose rows are all inserted: they are members from then on. Call it under the list's
 * lease. Throws ImportUnderWay if it has ended meanwhile.
 */
export async function completeImport(
  client: Queryable,
  allowance: Pick<Allowance, 'takeForWork'>,
  { importId, listId, organizationId }: PendingImport,
  { total, matched, unmatched, duplicate, rejected }: RowCounts,
): Promise<void> {
  const added = matched + unmatched
  const nowMs = Date.now()
  const from = await allowance.takeForWork(
    client,
    organizationId,
    ['list import', listId, importId],
    nowMs,
  )
  const { rowCount } = await client.query(
    `UPDATE list_imports SET status = 'completed', rows_total = $2, rows_added = $3, rows_matched = $4,
       rows_duplicate = $5, rows_rejected = $6, numbers_from = coalesce($7, now()), completed_at = now(),
       updated_at = now()
     WHERE import_id = $1 AND status = 'processing'`,
    [importId, total, added, matched, duplicate, rejected, from.getTime() > nowMs ? from : null],
  )
  if (rowCount === 0) throw new ImportUnderWay(`import ${importId} has already ended`)
  await client.query(
    `UPDATE lists SET count = count + $2, members_version = members_version + 1, updated_at = now()
     WHERE list_id = $1`,
    [listId, added],
  )
  await tellEnded(client, importId)
}

/** Returns the imports of a list whose rows are not members (yet). */
export async function readNotCompleted(
  client: Queryable,
  listIds: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ import_id: string }>(
    `SELECT import_id FROM list_imports WHERE list_id = ANY($1) AND status <> 'completed'`,
    [listIds],
  )
  return rows.map(({ import_id }) => import_id)
}

const columns = `import_id AS id, list_id, status, bytes_done::float8 AS bytes_done, (file ->> 'bytes')::float8 AS bytes,
  ${counters}, error, created_at, completed_at`

export const selectImports = `SELECT ${columns} FROM list_imports WHERE list_id = $1`

/** Reads an import of a list. Throws 404 "import not found". */
export async function readImport(
  client: Queryable,
  listId: string,
  importId: string,
): Promise<Static<typeof ListImport>> {
  if (!isUuid(importId)) throw notFound.listImport()
  const [row] = await readRecords<ImportRow>(client, `${selectImports} AND import_id = $2`, [
    listId,
    importId,
  ])
  if (!row) throw notFound.listImport()
  return importOf(row)
}

export interface ImportRow
  extends Matches,
    Omit<Static<typeof ListImport>, keyof Matches | 'progress'> {
  bytes_done: number
  bytes: number
}

export const importOf = ({ bytes_done, bytes, ...row }: ImportRow): Static<typeof ListImport> => ({
  ...withMatches(row),
  progress: row.status === 'completed' ? 1 : bytes === 0 ? 0 : Math.min(bytes_done / bytes, 0.999),
})
