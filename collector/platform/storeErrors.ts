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

/** PostgreSQL's codes of a server that starts, stops or is full, and Node's for no connection. */
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

const isLostShard = (error: unknown): boolean =>
  error instanceof ClickHouseRefused &&
  (lostShard.has(error.code) ||
    (error.code === readAfterEnd && error.message.includes(ofConnection)))

/** ClickHouse's codes for unreadable rows: a file is truncated, overwritten or missing. */
const damaged = new Set([
  32, // ATTEMPT_TO_READ_AFTER_EOF
  33, // CANNOT_READ_ALL_DATA
  40, // CHECKSUM_DOESNT_MATCH
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  87, // CANNOT_SEEK_THROUGH_FILE
  107, // FILE_DOESNT_EXIST
  117, // INCORRECT_DATA
  226, // NO_FILE_IN_DATA_PART
  228, // BAD_SIZE_OF_FILE_IN_DATA_PART
  232, // NO_SUCH_DATA_PART
  246, // CORRUPTED_DATA
  271, // CANNOT_DECOMPRESS
  432, // UNKNOWN_CODEC
  740, // POTENTIALLY_BROKEN_DATA_PART
])

/** Whether ClickHouse cannot read stored rows. Until an operator repairs them, the same request fails again. */
export const isDamaged = (error: unknown): boolean =>
  error instanceof ClickHouseRefused && !isLostShard(error) && damaged.has(error.code)

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
