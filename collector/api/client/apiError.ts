import type { ApiError as Declared } from './client.d.ts'

/** An answer that is an error, or none at all: see client.d.ts. */
export class ApiError extends Error implements Declared {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    code: string,
    message: string,
    {
      details = {},
      retryAfterSeconds = null,
      cause,
    }: {
      details?: Record<string, unknown>
      retryAfterSeconds?: number | null
      cause?: unknown
    } = {},
  ) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/**
 * Returns the error of a response. A response that is not from the service, such as a proxy's page, has the
 * code "unknown".
 */
export async function errorOf(answer: Response): Promise<ApiError> {
  const body: unknown = await answer.json().catch(() => null)
  const { error, message, ...details } = (body ?? {}) as Record<string, unknown>
  return new ApiError(
    answer.status,
    typeof error === 'string' ? error : 'unknown',
    typeof message === 'string'
      ? message
      : `The service answered ${answer.status} without an error message.`,
    { details, retryAfterSeconds: retryAfterSecondsOf(answer.headers.get('retry-after')) },
  )
}

/** Seconds, or an HTTP date (RFC 9110). */
function retryAfterSecondsOf(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
