import { createHash } from 'node:crypto'
import { callerId, type Principal } from '../api/access/principal.ts'
import { invalidParameter } from '../api/http/errors.ts'

/** Who is charged for records, and for what they asked: an HTTP request as `callerOf` reads it, or a job's own words. */
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
  /** An Idempotency-Key together with all that decides which records it is about; null: a repeat is charged anew. */
  readonly repeatOf: readonly unknown[] | null
}

/** The parts of an HTTP request that say who is charged; Fastify's have them. */
export interface ChargeableRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body?: unknown
  readonly principal: Principal
}

/** Who is charged for the answer to a request. Throws 400 for an Idempotency-Key that is none. */
export function callerOf({ id, method, url, headers, body, principal }: ChargeableRequest): Caller {
  const key = headers['idempotency-key']
  if (key !== undefined && (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))) {
    throw invalidParameter('Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  }
  return {
    requestId: id,
    organizationId: principal.organizationId,
    projectId: principal.projectId,
    callerId: callerId(principal),
    mode: principal.mode,
    repeatOf: key === undefined ? null : [key, method, url, body ?? null, principal.projectId],
  }
}

/**
 * What makes a caller a repeat of another, who read the same project: PostgreSQL's hex form of a sha256. Null where
 * nothing does.
 */
export function idempotencyOf(
  { repeatOf }: Pick<Caller, 'repeatOf'>,
  projectId: string | null,
): string | null {
  if (!repeatOf) return null
  const text = JSON.stringify([...repeatOf, projectId])
  return `\\x${createHash('sha256').update(text).digest('hex')}`
}
