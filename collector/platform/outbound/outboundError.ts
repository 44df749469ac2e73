type OutboundErrorCode =
  | 'address_refused'
  | 'not_resolved'
  | 'connection_failed'
  | 'connection_closed'
  | 'tls_failed'
  | 'timed_out'
  | 'response_too_large'

/** Errors that occur before a connection exists. */
const unsent: ReadonlySet<OutboundErrorCode> = new Set([
  ...(['address_refused', 'not_resolved', 'connection_failed', 'tls_failed'] as const),
])

/** No complete response from a customer's address. `message` is for that customer. */
export class OutboundError extends Error {
  readonly code: OutboundErrorCode

  constructor(code: OutboundErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.name = 'OutboundError'
  }

  /** Whether no part of the request was sent. */
  get isUnsent(): boolean {
    return unsent.has(this.code)
  }
}

/**
 * Converts a network error to an OutboundError without internal addresses. A connected host may have the request, whatever
 * the error says. A server can end TLS with an alert after it has read everything.
 */
export function toOutboundError(error: unknown, host: string, wasConnected = false): OutboundError {
  if (error instanceof OutboundError) return error
  const { code = '', message = '' } = error as NodeJS.ErrnoException
  const options = { cause: error }
  if (wasConnected || /^(ECONNRESET|EPIPE)$|^HPE_/.test(code) || message === 'aborted')
    return new OutboundError(
      'connection_closed',
      `${host} closed the connection before its answer was complete.`,
      options,
    )
  if (/CERT|^ERR_(TLS|SSL)|^EPROTO$|SELF_SIGNED|UNABLE_TO_/.test(code))
    return new OutboundError('tls_failed', `TLS with ${host} failed: ${code}.`, options)
  return new OutboundError(
    'connection_failed',
    `No connection to ${host}${code && `: ${code}`}.`,
    options,
  )
}
