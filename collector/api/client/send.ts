import { ApiError, errorOf } from './apiError.ts'
import type { CallOptions, ClientOptions } from './client.d.ts'

/** A request as an operation makes it. */
export interface Request {
  method: string
  /** From the base address on, with its query. */
  path: string
  body?: unknown
  /** Whether its records are charged. */
  isCharged: boolean
}

/** Sends a request until it is answered, and reads the answer with `read`. Throws ApiError, or the signal's reason. */
export type Send = <T>(
  request: Request,
  options: CallOptions | undefined,
  read: (answer: Response) => T | Promise<T>,
) => Promise<T>

/** A page knows where it is from. */
const { location } = globalThis as { location?: { origin: string } }

export function createSend({
  baseUrl = location?.origin ?? '',
  key,
  secret,
  token,
  headers,
  maxTries = 5,
  maxWaitMs = 30_000,
  timeoutMs = 60_000,
  fetch = (url, init) => globalThis.fetch(url, init),
}: ClientOptions): Send {
  if (!URL.canParse(baseUrl))
    throw new TypeError(`baseUrl: "${baseUrl}" is not the address of a service`)
  return async (request, { signal, headers: ofCall, idempotencyKey = newKey() } = {}, read) => {
    const { method, path, body, isCharged } = request
    const url = baseUrl.replace(/\/$/, '') + path
    const init: RequestInit = {
      method,
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(secret !== undefined && { 'x-api-secret': secret }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(isCharged && { 'idempotency-key': idempotencyKey }),
        ...(typeof headers === 'function' ? headers() : headers),
        ...ofCall,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }

    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted()
      try {
        return await within(timeoutMs, signal, async (signal) => {
          const answer = await fetch(url, { ...init, signal })
          if (!answer.ok) throw await errorOf(answer)
          return await read(answer)
        })
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof ApiError)) throw error
        const waitMs = waitMsBefore(error, request, tries)
        if (tries === maxTries || waitMs === null || waitMs > maxWaitMs) throw error
        await sleep(waitMs, signal)
      }
    }
  }
}

/**
 * Returns the wait before the next try, or null for none. If the service names a time, it did not process the
 * request, and any request may be repeated. Otherwise only reads that are not charged twice may.
 */
function waitMsBefore(
  { status, code, retryAfterSeconds }: ApiError,
  { method, isCharged }: Request,
  tries: number,
): number | null {
  if ((status === 429 || status === 503) && retryAfterSeconds !== null)
    return retryAfterSeconds * 1000
  const backOffMs = 1000 * 2 ** (tries - 1)
  if (status === 429) return code === 'platform_cap_exceeded' ? null : backOffMs
  const isUnknown = status === 0 || status >= 500
  return isUnknown && (method === 'GET' || isCharged) ? backOffMs : null
}

/** Does something that a signal ends, for so long; what fails without an answer is an ApiError of status 0. */
async function within<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  try {
    return await act(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw timeout.signal.aborted
      ? new ApiError(0, 'timeout', 'The service did not answer in time. Try again.', { cause })
      : new ApiError(
          0,
          'unreachable',
          'The service cannot be reached. Check the connection and try again.',
          {
            cause,
          },
        )
  } finally {
    clearTimeout(timer)
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** `crypto.randomUUID` is only there for pages of secure origins. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
