/**
 * ClickHouse received the statement and refused it. Other errors, such as a failed connection, are thrown
 * unchanged.
 */
export class ClickHouseRefused extends Error {
  /** ClickHouse's error code: 27 is CANNOT_PARSE_INPUT_ASSERTION_FAILED, and so on. */
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

/**
 * PostgreSQL's codes for a server that is starting, stopping or full, and Node's codes for an unreachable
 * server.
 */
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

/** ClickHouse's codes for a cluster server that does not answer. */
const lostShard = new Set([
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  279, // ALL_CONNECTION_TRIES_FAILED
  519, // NO_REMOTE_SHARD_AVAILABLE
])

/** ClickHouse's code of a server that stops or crashes. It restarts, and the statement returned no rows. */
const aborted = 236
const isEnding = (error: unknown): boolean =>
  error instanceof ClickHouseRefused && error.code === aborted

/** ATTEMPT_TO_READ_AFTER_EOF is also the code of a truncated file; ClickHouse adds this text for a connection. */
const readAfterEnd = 32
const ofConnection = 'while receiving packet from '

export const isLostShard = (error: unknown): boolean =>
  error instanceof ClickHouseRefused &&
  (lostShard.has(error.code) ||
    (error.code === readAfterEnd && error.message.includes(ofConnection)))

/** Whether ClickHouse or PostgreSQL was unreachable, so that the same request may succeed later. */
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
