import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError, conflict, notFound } from '../../api/http/errors.ts'
import { readPage } from '../../api/http/pagination.ts'
import { keepBuild } from '../../audiences/builds.ts'
import { requestListBuild } from '../../audiences/listAudience.ts'
import { freeNumber } from '../../billing/allowance.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { isSimulated } from '../../platform/postgres/simulation.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { FailurePage, Run as RunSchema } from './exportSchemas.ts'
import type { Export } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'

export type Run = Static<typeof RunSchema>

export const exportRuns = 'exports.runs'

/** Statuses of runs with records that have no outcome yet. */
export const unfinished = `('pending', 'running', 'parked')`

/** The four counters of a run, which are free numbers until the run charges a record. */
const counters = ['total', 'exported', 'failed', 'duplicated']
  .map((name) => `${freeNumber(`records_${name}::float8`, 'export_runs')} AS records_${name}`)
  .join(', ')

const columns = `run_id, export_id, status, ${counters}, records_charged::float8 AS records_charged, build_id, retry_of,
  coalesce(stop_reason, CASE WHEN status = 'parked' THEN park_reason END) AS error,
  CASE WHEN status = 'parked' THEN resumes_at END AS resumes_at, requested_at, started_at,
  ended_at`

interface Counters {
  records_total: number | null
  records_exported: number | null
  records_failed: number | null
  records_duplicated: number | null
}

/** The counters as an answer has them: omitted while they are not shown. */
const shownCounters = (row: Counters): Partial<Record<keyof Counters, number>> =>
  row.records_total === null
    ? {}
    : {
        records_total: row.records_total,
        records_exported: row.records_exported!,
        records_failed: row.records_failed!,
        records_duplicated: row.records_duplicated!,
      }

export async function readRunEnd(
  client: Queryable,
  runId: string,
): Promise<Record<string, unknown>> {
  const { rows } = await client.query<Counters & { status: string; error: string | null }>(
    `SELECT status, ${counters}, stop_reason AS error FROM export_runs WHERE run_id = $1`,
    [runId],
  )
  const { status, error, ...counted } = rows[0]!
  return { status, ...shownCounters(counted), error }
}

/** Reads one run of an export. Throws 404 "run not found". */
export async function readRun(
  client: Queryable,
  exportId: string,
  runId: string,
  lock = false,
): Promise<Run> {
  if (!isUuid(runId)) throw notFound.exportRun()
  const [row] = await readRecords<Row>(
    client,
    `SELECT ${columns} FROM export_runs WHERE export_id = $1 AND run_id = $2 ${lock ? 'FOR UPDATE' : ''}`,
    [exportId, runId],
  )
  if (!row) throw notFound.exportRun()
  return runOf(row)
}

/** Returns a page of an export's runs, newest first. Throws 400 for an invalid cursor. */
export async function listRuns(
  deps: Pick<ExportsDeps, 'postgres' | 'cursors'>,
  exportId: string,
  page: { limit?: number; cursor?: string },
): Promise<{ runs: Run[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Row>(deps, page, {
    list: 'export_runs',
    owner: exportId,
    sql: `SELECT ${columns} FROM export_runs WHERE export_id = $1`,
    values: [exportId],
    key: { run_id: 'uuid' },
    order: 'desc',
  })
  return { runs: rows.map(runOf), ...next }
}

/**
 * Returns a page of a run's records that were not exported, each with its reason. None while the counters are not
 * shown. Throws 400 for an invalid cursor.
 */
export async function listFailures(
  deps: Pick<ExportsDeps, 'postgres' | 'cursors'>,
  runId: string,
  {
    outcome = 'failed',
    ...page
  }: { outcome?: 'failed' | 'duplicated'; limit?: number; cursor?: string },
): Promise<Static<typeof FailurePage>> {
  type Failure = Pick<
    Static<typeof FailurePage>['failures'][number],
    'record' | 'outcome' | 'reason' | 'class'
  >
  const { rows, next } = await readPage<Failure & { key: string }>(deps, page, {
    list: 'export_failures',
    owner: `${runId} ${outcome}`,
    // An uncharged record was delivered to nobody, so the response does not identify it.
    sql: `SELECT key, CASE WHEN is_charged THEN record END AS record, outcome, reason, class FROM export_outcomes
          WHERE run_id = $1 AND outcome = $2 AND EXISTS (
            SELECT FROM export_runs WHERE export_runs.run_id = $1 AND numbers_from <= now())`,
    values: [runId, outcome],
    key: { key: 'bigint' },
  })
  return {
    failures: rows.map(({ record, outcome, reason, class: failureClass }) => ({
      record,
      outcome,
      reason,
      class: failureClass,
      index: null,
      path: '' as const,
      code: failureClass ?? outcome,
      message: reason,
    })),
    ...next,
  }
}

export interface Requester {
  readonly organizationId: string
  readonly callerId: string
  readonly isProjectKey: boolean
  /** The request, whose charges in the log of requests are those of the run. Null: a schedule requests it. */
  readonly requestId: string | null
}

export type RequestDeps = Pick<ExportsDeps, 'allowance' | 'now'>

/**
 * Requests a run of an export, with the served build of its audience, or the current list. Later builds do
 * not affect the run. Throws 409 "not_ready" without a build, and "conflict" while a run is in progress.
 */
export async function requestRun(
  deps: RequestDeps,
  client: Queryable,
  exportRecord: Export,
  requester: Requester,
): Promise<string> {
  const buildId =
    exportRecord.list_id === null
      ? await readServed(client, exportRecord.audience_id!)
      : await requestListBuild(client, exportRecord.list_id)
  if (!buildId || !(await keepBuild(client, buildId))) throw notReady(exportRecord)
  return insertRun(deps, client, exportRecord, { retryOf: null, buildId }, requester)
}

async function readServed(client: Queryable, audienceId: string): Promise<string | null> {
  const { rows } = await client.query<{ current_build_id: string | null }>(
    'SELECT current_build_id FROM audiences WHERE audience_id = $1',
    [audienceId],
  )
  return rows[0]?.current_build_id ?? null
}

/**
 * Requests a run that sends only the failed records of another run. Throws 409 "conflict" while a run is in
 * progress, and if nothing failed. Throws "not_ready" if the members of its build were deleted.
 */
export async function requestRetry(
  deps: RequestDeps,
  client: Queryable,
  exportRecord: Export,
  run: Run,
  requester: Requester,
): Promise<string> {
  if (run.ended_at === null)
    throw conflict(
      'invalid_state',
      'This run is in progress. Retry its failed records after it ends.',
    )
  const { rowCount } = await client.query(
    'SELECT FROM export_runs WHERE run_id = $1 AND records_failed > 0',
    [run.run_id],
  )
  if (rowCount === 0) throw conflict('invalid_state', 'This run has no failed records to retry.')
  // A sample run was never sent, and has no build of its own.
  const buildId = isSimulated() ? await readServed(client, exportRecord.audience_id!) : run.build_id
  if (buildId === null || !(await keepBuild(client, buildId))) throw notReady(exportRecord)
  return insertRun(deps, client, exportRecord, { retryOf: run.run_id, buildId }, requester)
}

async function insertRun(
  { allowance, now }: RequestDeps,
  client: Queryable,
  exportRecord: Export,
  { retryOf, buildId }: { retryOf: string | null; buildId: string },
  { organizationId, callerId, isProjectKey, requestId }: Requester,
): Promise<string> {
  const { rows } = await client.query<{ run_id: string }>(
    `INSERT INTO export_runs (run_id, export_id, retry_of, build_id, output_format, mapping, requested_by,
       is_project_key, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (export_id) WHERE status IN ${unfinished} DO NOTHING RETURNING run_id`,
    [
      uuidV7(),
      exportRecord.id,
      retryOf,
      buildId,
      exportRecord.output_format,
      exportRecord.mapping ? JSON.stringify(exportRecord.mapping) : null,
      callerId,
      isProjectKey,
      requestId,
    ],
  )
  if (!rows[0])
    throw conflict(
      'invalid_state',
      'Another run of this export is in progress. Wait until it ends.',
    )
  const runId = rows[0].run_id
  if (!isSimulated()) {
    const question = ['export run', exportRecord.id, buildId, retryOf]
    const nowMs = now()
    const from = await allowance.takeForWork(client, organizationId, question, nowMs)
    if (from.getTime() > nowMs)
      await client.query('UPDATE export_runs SET numbers_from = $2 WHERE run_id = $1', [
        runId,
        from,
      ])
  }
  await wakeQueue(client, exportRuns)
  return runId
}

/** Stops a run: the remaining records fail with that reason. A finished run stays unchanged. */
export async function cancelRun(client: Queryable, runId: string): Promise<void> {
  await client.query(
    `UPDATE export_runs SET stop_reason = 'The run was cancelled.', stop_class = 'retry', resumes_at = NULL,
       updated_at = now()
     WHERE run_id = $1 AND status IN ${unfinished} AND stop_reason IS NULL`,
    [runId],
  )
  await wakeQueue(client, exportRuns)
}

const notReady = ({ audience_id }: Export) =>
  new ApiError(
    409,
    'not_ready',
    audience_id === null
      ? 'The records of that run were deleted. Start a new run of the list.'
      : `The audience is not built, or the members of its build were deleted. GET /api/v1/audiences/${audience_id}/status shows the progress.`,
  )

type Row = Counters & Omit<Run, keyof Counters>

const runOf = ({
  records_total,
  records_exported,
  records_failed,
  records_duplicated,
  ...row
}: Row): Run => ({
  ...row,
  ...shownCounters({ records_total, records_exported, records_failed, records_duplicated }),
})
