import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError, conflict, notFound } from '../../api/http/errors.ts'
import { readPage } from '../../api/http/pagination.ts'
import { keepBuild } from '../../audiences/builds.ts'
import { requestListBuild } from '../../audiences/listAudience.ts'
import { hasBilledCountSql } from '../../events/query/freeAnswers.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import { isSimulated } from '../../platform/postgres/simulation.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { FailurePage, Run as RunSchema } from './exportSchemas.ts'
import type { Export } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'

export type Run = Static<typeof RunSchema>

/** The queue that finds due runs. */
export const exportRuns = 'exports.runs'

/** Statuses of runs with records that have no outcome yet. */
export const unfinished = `('pending', 'running', 'parked')`

/**
 * Returns SQL for whether the number of records of a run is billed (query/freeAnswers.ts). Events determine
 * which people have addresses, and a caller can forge events. So it is billed for every export of addresses.
 */
export const isNumberSold = (run: string, build: string): string =>
  `(${hasBilledCountSql(build)} OR ${run}.output_format = 'ip_address')`

/**
 * Runs with the counts that an answer may show. If the number of records is sold, the counts include only charged
 * records, so that free failures reveal nothing. The number of records to send then appears once a run has completed.
 */
const visibleRuns = `export_runs
  CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM audience_builds AS sent
      WHERE sent.build_id = export_runs.build_id AND ${isNumberSold('export_runs', 'sent')}) AS is_sold
  ) AS number
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE outcome = 'failed') AS failed,
      count(*) FILTER (WHERE outcome = 'duplicated') AS duplicated
    FROM export_outcomes AS known
    WHERE is_sold AND known.run_id = export_runs.run_id AND is_charged
  ) AS paid
  CROSS JOIN LATERAL (
    SELECT CASE WHEN is_sold THEN paid.failed ELSE records_failed END AS failed,
      CASE WHEN is_sold THEN paid.duplicated ELSE records_duplicated END AS duplicated
  ) AS visible`

const visibleTotal = '(records_exported + visible.failed + visible.duplicated)'

/** The four counters of a run. */
const counters = `${visibleTotal}::float8 AS records_total, records_exported::float8 AS records_exported,
  visible.failed::float8 AS records_failed, visible.duplicated::float8 AS records_duplicated`

const columns = `export_runs.run_id, export_id, status,
  CASE WHEN status = 'completed' THEN ${visibleTotal}::float8
    WHEN NOT is_sold THEN records_expected::float8 END AS records_expected, ${counters},
  records_charged::float8 AS records_charged, build_id, retry_of,
  coalesce(stop_reason, CASE WHEN status = 'parked' THEN park_reason END) AS error, resumes_at, requested_at, started_at,
  ended_at`

/** Reads the run for the message `export.run_ended`. */
export async function readRunEnd(
  client: Queryable,
  runId: string,
): Promise<Record<string, unknown>> {
  const { rows } = await client.query<Record<string, unknown>>(
    `SELECT status, ${counters}, stop_reason AS error FROM ${visibleRuns} WHERE run_id = $1`,
    [runId],
  )
  return rows[0]!
}

/** Reads one run of an export. Throws 404 "run not found". */
export async function readRun(
  client: Queryable,
  exportId: string,
  runId: string,
  lock = false,
): Promise<Run> {
  if (!isUuid(runId)) throw notFound.exportRun()
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM ${visibleRuns}
     WHERE export_id = $1 AND run_id = $2 ${lock ? 'FOR UPDATE OF export_runs' : ''}`,
    [exportId, runId],
  )
  if (!rows[0]) throw notFound.exportRun()
  return runOf(rows[0])
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
    sql: `SELECT ${columns} FROM ${visibleRuns} WHERE export_id = $1`,
    values: [exportId],
    key: { run_id: 'uuid' },
    order: 'desc',
  })
  return { runs: rows.map(runOf), ...next }
}

/**
 * Returns a page of a run's records that were not exported, each with its reason. Throws 400 for an invalid
 * cursor.
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
          WHERE run_id = $1 AND outcome = $2 AND (is_charged OR NOT (
            SELECT is_sold FROM ${visibleRuns} WHERE export_runs.run_id = $1))`,
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

/** The caller that requests a run and is charged for it. */
export interface Requester {
  readonly callerId: string
  readonly isProjectKey: boolean
}

/**
 * Requests a run of an export, with the served build of its audience, or the current list. Later builds do
 * not affect the run. Throws 409 "not_ready" without a build, and "conflict" while a run is in progress.
 */
export async function requestRun(
  client: Queryable,
  wanted: Export,
  requester: Requester,
): Promise<string> {
  const { buildId, count } =
    wanted.list_id === null
      ? await readServed(client, wanted.audience_id!)
      : { buildId: await requestListBuild(client, wanted.list_id), count: null }
  if (!buildId || !(await keepBuild(client, buildId))) throw notReady(wanted)
  return insertRun(client, wanted, { retryOf: null, buildId, expected: count }, requester)
}

async function readServed(client: Queryable, audienceId: string) {
  const { rows } = await client.query<{ buildId: string | null; count: number | null }>(
    `SELECT current_build_id AS "buildId", count::float8 AS count FROM audiences
       LEFT JOIN audience_builds ON build_id = current_build_id
     WHERE audiences.audience_id = $1`,
    [audienceId],
  )
  return rows[0] ?? { buildId: null, count: null }
}

/**
 * Requests a run that sends only the failed records of another run. Throws 409 "conflict" while a run is in
 * progress, and if nothing failed. Throws "not_ready" if the members of its build were deleted.
 */
export async function requestRetry(
  client: Queryable,
  wanted: Export,
  run: Run,
  requester: Requester,
): Promise<string> {
  if (run.ended_at === null)
    throw conflict(
      'invalid_state',
      'This run is in progress. Retry its failed records after it ends.',
    )
  const { failed, mayHaveFailed } = await readFailed(client, run)
  if (!mayHaveFailed) throw conflict('invalid_state', 'This run has no failed records to retry.')
  // A sample run was never sent, and has no build of its own.
  const buildId = isSimulated()
    ? (await readServed(client, wanted.audience_id!)).buildId
    : run.build_id
  if (buildId === null || !(await keepBuild(client, buildId))) throw notReady(wanted)
  return insertRun(client, wanted, { retryOf: run.run_id, buildId, expected: failed }, requester)
}

/**
 * Counts the failed records of a run, and returns whether a retry may be refused without revealing uncharged
 * failures.
 */
async function readFailed(client: Queryable, { run_id, status, records_failed }: Run) {
  const { rows } = await client.query<{ failed: number; is_sold: boolean }>(
    `SELECT records_failed::float8 AS failed, is_sold FROM ${visibleRuns} WHERE run_id = $1`,
    [run_id],
  )
  const { failed, is_sold } = rows[0]!
  return { failed, mayHaveFailed: records_failed > 0 || (is_sold && status === 'failed') }
}

async function insertRun(
  client: Queryable,
  wanted: Export,
  {
    retryOf,
    buildId,
    expected,
  }: { retryOf: string | null; buildId: string; expected: number | null },
  { callerId, isProjectKey }: Requester,
): Promise<string> {
  const { rows } = await client.query<{ run_id: string }>(
    `INSERT INTO export_runs (run_id, export_id, retry_of, build_id, output_format, mapping, records_expected,
       requested_by, is_project_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (export_id) WHERE status IN ${unfinished} DO NOTHING RETURNING run_id`,
    [
      uuidV7(),
      wanted.id,
      retryOf,
      buildId,
      wanted.output_format,
      wanted.mapping ? JSON.stringify(wanted.mapping) : null,
      expected,
      callerId,
      isProjectKey,
    ],
  )
  if (!rows[0])
    throw conflict(
      'invalid_state',
      'Another run of this export is in progress. Wait until it ends.',
    )
  await wakeQueue(client, exportRuns)
  return rows[0].run_id
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

interface Row extends Omit<Run, 'resumes_at' | 'requested_at' | 'started_at' | 'ended_at'> {
  resumes_at: Date | null
  requested_at: Date
  started_at: Date | null
  ended_at: Date | null
}

const runOf = ({ resumes_at, requested_at, started_at, ended_at, ...row }: Row): Run => ({
  ...row,
  resumes_at: row.status === 'parked' ? (resumes_at?.toISOString() ?? null) : null,
  requested_at: requested_at.toISOString(),
  started_at: started_at?.toISOString() ?? null,
  ended_at: ended_at?.toISOString() ?? null,
})
