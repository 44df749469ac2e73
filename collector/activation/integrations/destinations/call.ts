import { Type } from 'typebox'
import type {
  Outbound,
  OutboundRequest,
  OutboundResponse,
} from '../../../platform/outbound/outbound.ts'
import { OutboundError } from '../../../platform/outbound/outboundError.ts'
import { DestinationError } from './destination.ts'

export interface CallContext {
  readonly outbound: Outbound
  takeToken(): Promise<void>
  now(): number
}

const timeoutMs = 30_000
/** A response is parsed at once. Requests with larger responses set their own limit. */
const responseBytesMax = 1024 * 1024
/** Limit for responses that list the fields of a destination, which contain all values and labels. */
export const fieldsBytesMax = 8 * 1024 * 1024
/** The longest Retry-After that is respected. */
const retryAfterSecondsMax = 86_400
/** Temporary statuses: time-outs, locks, server errors. */
const transient = new Set([408, 423, 425, 429, 477, 500, 502, 503, 504, 520, 521, 522, 523, 524])

/**
 * Sends a request to a destination as soon as its integration's rate limit allows. Throws DestinationError
 * without a response, and for a response that requests a retry, with its Retry-After. The caller handles all
 * other responses.
 */
export async function call(
  context: CallContext,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  await context.takeToken()
  const answer = await context.outbound
    .send({ timeoutMs, responseBytesMax, ...request })
    .catch((error: unknown) => {
      throw error instanceof OutboundError ? toDestinationError(error) : error
    })
  if (answer.status === 429 || transient.has(answer.status)) {
    throw new DestinationError(
      'retry',
      `${hostOf(request.url)} answered ${answer.status}.`,
      readRetryAfter(answer, context.now()),
    )
  }
  return answer
}

/** The JSON of a response. Throws DestinationError for invalid JSON, because the response was truncated. */
export function readJson<T>({ body }: OutboundResponse, url: string): T {
  try {
    return JSON.parse(body.toString()) as T
  } catch {
    throw new DestinationError('retry', `${hostOf(url)} did not answer with JSON.`)
  }
}

/** Retry-After in seconds, given as seconds or as a date; null without one. */
function readRetryAfter(
  { headers, status }: Pick<OutboundResponse, 'headers' | 'status'>,
  nowMs: number,
): number | null {
  const retryAfter = headers['retry-after']
  if (retryAfter === undefined) return status === 429 ? unnamedWaitSeconds : null
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - nowMs) / 1000
  if (Number.isNaN(seconds)) return unnamedWaitSeconds
  return Math.min(Math.max(1, Math.ceil(seconds)), retryAfterSecondsMax)
}

/** Wait after a 429 without Retry-After: the windows of most limits have ended by then. */
const unnamedWaitSeconds = 10

/** Throws for 401 and 403, which only new secrets or permissions can fix. */
export function requireAllowed({ status }: OutboundResponse, url: string, what: string): void {
  if (status !== 401 && status !== 403) return
  throw new DestinationError('needs_action', `${hostOf(url)} does not accept ${what} (${status}).`)
}

export const hostOf = (url: string): string => new URL(url).host

/** Converts an error. Faults that only the customer or the operator can fix have class `needs_action`. */
export function toDestinationError({ code, message }: OutboundError): DestinationError {
  const stays = code === 'address_refused' || code === 'tls_failed' || code === 'response_too_large'
  return new DestinationError(stays ? 'needs_action' : 'retry', message)
}

/** Schema of the setting with the address of a destination's API; `usual` is the default. */
export const apiBase = (usual: string) =>
  Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^https?://[^?#]+[^/?#]$',
      description: `Another server with this API, without a trailing slash; default ${usual}.`,
    }),
  )
