/**
 * ClickHouse received the statement and refused it. All other errors are thrown unchanged: no connection, no
 * response.
 */
export class ClickHouseRefused extends Error {
  /** ClickHouse's error code: 27 is CANNOT_PARSE_INPUT_ASSERTION_FAILED, and so on. */
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

/** PostgreSQL's codes for a server that is starting, ending or full, and Node's for one that is not there. */
const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57P01',
  '57P02',
  '57P03',
  '53300',
])

/** ClickHouse's codes for a server of its cluster that does not answer. */
const lostShard = new Set([
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  279, // ALL_CONNECTION_TRIES_FAILED
  519, // NO_REMOTE_SHARD_AVAILABLE
])

/** ClickHouse's code of a server that is ending, also by a fault of its own: it comes back, and nothing was answered. */
const aborted = 236
const isEnding = (error: unknown): boolean =>
  error instanceof ClickHouseRefused && error.code === aborted

export const isLostShard = (error: unknown): boolean =>
  error instanceof ClickHouseRefused && lostShard.has(error.code)

/** True for an error which says that ClickHouse or PostgreSQL could not be reached: the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return (
    isLostShard(error) ||
    isEnding(error) ||
    (typeof code === 'string' && awayCodes.has(code)) ||
    /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|socket hang up|Timeout error)/.test(
      message,
    )
  )
}
