/**
 * A charged request, in call order: `admit` before the work, the route's own read, `settle` before the first byte, and
 * the answer. Both wrap the Billing of billing.ts, which knows nothing of HTTP. If the service fails after `settle`, two
 * places refund: `Charge.deliver` for rows that broke off, the error handler (through `request.charge`) for all else.
 */
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerId } from '../api/access/principal.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { underWay, untilClosed } from '../api/http/streaming.ts'
import type { Billing, Usage } from './billing.ts'
import type { Caller, Charge, Delivery, ReadWindow } from './charge.ts'
import type { Meter } from './meters.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The charge of this request. An error response refunds it first. */
    charge?: Charge
  }
  interface FastifyContextConfig {
    /** The records of this route are charged; the API document says so. */
    charged?: true
  }
}

/** A request that budgets and limits allow to have `usage.recordsMax` records. */
export interface AdmittedRequest {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** The window of the earlier charge for the same request; a repeat reads it again. */
  readonly repeatedWindow: ReadWindow | undefined
  readonly billing: Billing
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly usage: Omit<Usage, 'signal'>
  readonly charge: Charge
}

/**
 * Checks before the work that budgets and limits leave as many records as the answer may have. Throws 402
 * "budget_exceeded", 429 "platform_cap_exceeded", and 400 for an invalid Idempotency-Key.
 */
export async function admit(
  billing: Billing,
  request: FastifyRequest,
  reply: FastifyReply,
  usage: Omit<Usage, 'signal'>,
): Promise<AdmittedRequest> {
  const signal = untilClosed(reply)
  const charge = await billing.admit(callerOf(request), { ...usage, signal })
  request.charge = charge
  return {
    signal,
    repeatedWindow: charge.repeats?.window ?? undefined,
    billing,
    request,
    reply,
    usage,
    charge,
  }
}

/** The records that a route has read, before the first byte of its answer. */
export interface ReadRecords {
  /** How many records the meter counts. */
  readonly records: number
  /** The meter, if only the rows decide it; default: the one that `admit` was given. */
  readonly meter?: Meter
  /** Whether the answer is a file or has the URLs of files. */
  readonly isDownload?: boolean
  readonly window?: ReadWindow
  /**
   * One hash for each record, in the order of the answer. `settle` calls it only for a request with Idempotency-Key.
   * Absent for records of a build.
   */
  hashes?(): readonly string[] | Promise<readonly string[]>
  /** The keys of a page's records in their build. */
  readonly keys?: readonly number[]
  readonly rows?: AsyncIterable<Delivery>
}

/** The number of charged records, and the rows that may be sent now. */
interface Settlement {
  readonly charged: number
  /** The bytes of `rows`; `Charge.deliver` refunds the records that the service fails to hand over. */
  readonly rows: AsyncIterable<Buffer>
}

/**
 * Charges the records of the response, and sets X-Footfall-Charged and X-Footfall-Request-Id. Throws like `admit`,
 * with exact budgets and limits. A client that has disconnected is not charged.
 */
export async function settle(
  { billing, request, reply, usage, charge }: AdmittedRequest,
  page: ReadRecords,
): Promise<Settlement> {
  const { records, meter = usage.meter, isDownload = false, window, keys } = page
  // ClickHouse sends the first rows while PostgreSQL writes the charge. None of them leaves before that.
  const rows = page.rows ? underWay(page.rows) : none()
  const charged = await charge.settle(records, {
    meter,
    ...(window && { window }),
    ...(keys && { keys }),
    ...(charge.isRepeatable && page.hashes && { hashes: await page.hashes() }),
  })
  await billing.recordIdentityRead(request, {
    meter,
    records,
    projectId: usage.projectId,
    isDownload,
  })
  reply.header('x-footfall-request-id', request.id).header('x-footfall-charged', charged)
  return { charged, rows: charge.deliver(rows) }
}

async function* none(): AsyncGenerator<Delivery> {}

/** Hashes of records by their keys, for `ReadRecords.hashes`. */
export const hashesOf = (keys: readonly string[]): readonly string[] =>
  keys.map((key) => hash('sha256', key, 'buffer').readBigInt64BE().toString())

/** The parts of an HTTP request that decide who is charged. */
type ChargeableRequest = Pick<FastifyRequest, 'id' | 'method' | 'url' | 'headers' | 'principal'> & {
  readonly body?: unknown
}

/** Who is charged for the answer to a request. Throws 400 for an invalid Idempotency-Key. */
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
