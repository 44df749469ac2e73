/** PostgreSQL's codes for a server that is starting, ending or full, and Node's for one that is not there. */
const awayCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['57P01', '57P02', '57P03', '53300'],
])

/** True for an error which says that ClickHouse or PostgreSQL could not be reached: the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return (
    (typeof code === 'string' && awayCodes.has(code)) ||
    /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|socket hang up|Timeout error)/.test(
      message,
    )
  )
}
