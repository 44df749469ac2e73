import { createHash } from 'node:crypto'
import type { Postgres } from '../platform/postgres/pool.ts'
import { noteUsedUpBudget } from './budgetNotices.ts'
import type { Meter } from './meters.ts'
import { defaultPrices } from './prices.ts'
import { type Refusal, refusalError } from './refusals.ts'

/** Who is charged for records: the caller of a request, as `callerOf` reads it, or a job. */
export interface Caller {
  /** Names the charge: the same id is charged once, however often it is given. A uuid. */
  readonly requestId: string
  readonly organizationId: string
  /** Of a caller bound to one project, that project: its budget holds too. Null: the organization's. */
  readonly projectId: string | null
  /** The key, member or job that asks. A uuid. */
  readonly callerId: string
  /** Test keys are never charged. */
  readonly mode: 'live' | 'test'
  /** An Idempotency-Key with everything that determines its records. Null: a repeat is charged again. */
  readonly repeatOf: readonly unknown[] | null
}

/** From when to when a read looks, in milliseconds since 1970. */
export interface Window {
  readonly startMs: number
  readonly endMs: number
}

/** The earlier charge for the same request with the same Idempotency-Key. */
export interface Repeated {
  /** Window of the earlier read, which the repeat must also use. Null for reads without a window. */
  readonly window: Window | null
}

/** Who wants records of which meter. */
export interface Asked {
  organizationId: string
  projectId: string | null
  isProjectKey: boolean
  meter: Meter
}

/** What an admission is decided by, and remembered by. */
export interface Admission extends Asked {
  /** Most records that the answer may have. */
  readonly recordsMax: number
}

/** Throws unless so many records more are allowed. */
export async function admitRecords(
  postgres: Postgres,
  asked: Admission,
  atMs: number,
): Promise<void> {
  const { microsPerThousand, freeRecordsPerMonth } = defaultPrices[asked.meter]
  const { rows } = await postgres.query<{ refusal: Refusal | null }>({
    name: 'consider_usage',
    text: 'SELECT refusal FROM consider_usage($1, $2, $3, $4, $5, $6, $7, $8)',
    values: [
      asked.organizationId,
      asked.projectId,
      asked.isProjectKey,
      asked.meter,
      Math.max(1, asked.recordsMax),
      new Date(atMs),
      microsPerThousand,
      freeRecordsPerMonth,
    ],
  })
  const { refusal } = rows[0]!
  if (!refusal) return
  if (refusal.kind === 'budget') {
    const ofProject = refusal.of === 'project' ? asked.projectId : null
    await noteUsedUpBudget(postgres, asked.organizationId, ofProject, atMs)
  }
  throw refusalError(refusal, { ...asked, atMs })
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
  { organizationId }: Asked,
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
