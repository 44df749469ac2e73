import { createHash } from 'node:crypto'
import type { Postgres } from '../platform/postgres/pool.ts'
import { noteUsedUpBudget } from './budgetNotices.ts'
import type { Meter } from './meters.ts'
import { defaultPrices } from './prices.ts'
import { type Refusal, refusalError } from './refusals.ts'

/** The principal that is charged for records: the caller of a request (`callerOf`), or a job. */
export interface Caller {
  /** The id of the charge, a uuid. The ledger charges each id once. */
  readonly requestId: string
  /** The API request that the charge belongs to, if it has another id; the log of requests adds it there. */
  readonly forRequest?: string | null
  readonly organizationId: string
  /** The project of a project key. The budget of this project also applies. Null for a key of the organization. */
  readonly projectId: string | null
  /** The key, member or job that asks. A uuid. */
  readonly callerId: string
  /** Test keys are never charged. */
  readonly mode: 'live' | 'test'
  /** An Idempotency-Key with everything that determines its records. Null: a repeat is charged again. */
  readonly repeatOf: readonly unknown[] | null
}

/** The time window of a read, in milliseconds since 1970. */
export interface ReadWindow {
  readonly startMs: number
  readonly endMs: number
}

/** The earlier charge for the same request with the same Idempotency-Key. */
export interface Repeated {
  /** Window of the earlier read, which the repeat must also use. Null for reads without a window. */
  readonly window: ReadWindow | null
}

/** The organization, project and meter of a request for records. */
export interface ChargedTo {
  organizationId: string
  projectId: string | null
  isProjectKey: boolean
  meter: Meter
}

/** The input of an admission, and its cache key. */
export interface Admission extends ChargedTo {
  /** Most records that the answer may have. */
  readonly recordsMax: number
}

/** Throws 402 or 429 if budgets and limits do not cover `recordsMax` more records. */
export async function admitRecords(
  postgres: Postgres,
  admission: Admission,
  atMs: number,
): Promise<void> {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[admission.meter]
  const { rows } = await postgres.query<{ refusal: Refusal | null }>({
    name: 'consider_usage',
    text: 'SELECT refusal FROM consider_usage($1, $2, $3, $4, $5, $6, $7, $8)',
    values: [
      admission.organizationId,
      admission.projectId,
      admission.isProjectKey,
      admission.meter,
      admission.recordsMax,
      new Date(atMs),
      microsPerThousand,
      freeRecordsPerMonth,
    ],
  })
  const { refusal } = rows[0]!
  if (!refusal) return
  if (refusal.kind === 'budget') {
    const ofProject = refusal.of === 'project' ? admission.projectId : null
    await noteUsedUpBudget(postgres, admission.organizationId, ofProject, atMs)
  }
  throw refusalError(refusal, { ...admission, atMs })
}

/**
 * Identifies repeats of a request by a caller that read the same project: PostgreSQL's hex form of a sha256.
 * Null without one.
 */
export function idempotencyOf(
  { repeatOf }: Pick<Caller, 'repeatOf'>,
  projectId: string | null,
): string | null {
  if (!repeatOf) return null
  const text = JSON.stringify([...repeatOf, projectId])
  return `\\x${createHash('sha256').update(text).digest('hex')}`
}

/** Returns the charge for the same request with the same Idempotency-Key in the last 24 hours, or null. */
export async function readRepeated(
  postgres: Postgres,
  { organizationId }: ChargedTo,
  idempotency: string,
  atMs: number,
): Promise<Repeated | null> {
  const { rows } = await postgres.query<{
    window_start_ms: string | null
    window_end_ms: string | null
  }>(
    `SELECT window_start_ms, window_end_ms FROM idempotent_charges
     WHERE organization_id = $1 AND idempotency = $2 AND record_hashes <> '{}'
       AND charged_at > $3::timestamptz - interval '24 hours'
     ORDER BY charged_at DESC, request_id DESC LIMIT 1`,
    [organizationId, idempotency, new Date(atMs)],
  )
  const [row] = rows
  if (!row) return null
  return {
    window:
      row.window_start_ms === null
        ? null
        : { startMs: Number(row.window_start_ms), endMs: Number(row.window_end_ms) },
  }
}
