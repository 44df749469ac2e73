import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { NoSecretKeyError } from '../../platform/outbound/secretBox.ts'
import { ParentDeleted } from '../../platform/postgres/transaction.ts'
import { isDamaged, isUnavailable } from '../../platform/storeErrors.ts'
import {
  ApiError,
  busy,
  conflict,
  malformed,
  NoAnswerPossible,
  unsupportedMediaType,
} from './errors.ts'
import { mayTakeLong } from './longUploads.ts'

declare module 'fastify' {
  interface FastifyRequest {
    errorCode: string | null
  }
}

const storeRetrySeconds = 2
const damagedRetrySeconds = 60
/** Errors that the service does not cause. /readyz itself logs why it is not ready. */
const expected = ['busy', 'not_ready']

/** The challenge of a 401 (RFC 9110). Browsers show no prompt for it. */
const challenge = 'ApiKey realm="Footfall", Bearer realm="Footfall"'

/** Converts any thrown value to a response, which is never billed. Internal details are only logged. */
export async function answerError(
  error: FastifyError | ApiError | NoAnswerPossible,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  await request.freeAnswer?.giveBack()
  if (error instanceof NoAnswerPossible) {
    if (!reply.raw.destroyed) request.log.error(error.message)
    reply.hijack()
    reply.raw.destroy()
    return reply
  }
  await request.charge?.refund()
  const apiError = error instanceof ApiError ? error : toApiError(error, request)
  request.errorCode = apiError.error
  if (apiError.status >= 500 && !expected.includes(apiError.error)) request.log.error(error)
  return (
    reply
      .code(apiError.status)
      // A stream that failed before its first byte may have set this header.
      .removeHeader('content-encoding')
      // The charge is refunded above.
      .removeHeader('x-footfall-charged')
      .headers({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'private, no-store',
        ...(apiError.status === 401 && { 'www-authenticate': challenge }),
        ...apiError.extra.headers,
      })
      .send(bodyOf(apiError, request.id))
  )
}

/** Answers requests that never reach a route: too slow, too large headers, or not HTTP. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && mayTakeLong(socket)) return
  const clientError =
    clientErrors[error.code ?? ''] ?? malformed('This is not an HTTP/1.1 request.')
  const requestId = randomUUID()
  const body = JSON.stringify(bodyOf(clientError, requestId))
  socket.end(
    [
      `HTTP/1.1 ${clientError.status} ${STATUS_CODES[clientError.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: private, no-store',
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  // An immediate close could lose the response. Without a timeout, a client that keeps sending would occupy
  // the socket indefinitely.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const lingerMs = 1_000

const clientErrors: Readonly<Record<string, ApiError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(
    408,
    'request_timeout',
    'The request did not arrive in time.',
  ),
  HPE_HEADER_OVERFLOW: new ApiError(
    431,
    'headers_too_large',
    'The request line and headers are larger than 16 KiB.',
  ),
}

const bodyOf = ({ error, code, message, extra }: ApiError, requestId: string) => ({
  error,
  code,
  message,
  request_id: requestId,
  ...extra.body,
})

function toApiError(error: FastifyError, request: FastifyRequest): ApiError {
  if (error instanceof ParentDeleted) return conflict('invalid_state', error.message)
  if (error instanceof NoSecretKeyError) return noSecretKey
  if (isUnavailable(error)) return busy('A database is unavailable. Try again.', storeRetrySeconds)
  if (isDamaged(error)) {
    // Errors that are "busy" are not logged, but an operator must repair this one.
    request.log.error(error)
    return busy(
      'The database cannot read a part of the stored data. The operator of the service must repair it. A shorter time window may work.',
      damagedRetrySeconds,
    )
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError(413, 'too_large', 'The body exceeds the size limit of this route.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedMediaType(mediaTypesOf(request))
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return malformed('The body must be JSON without members named __proto__ or constructor.')
    case 'FST_ERR_BAD_URL':
      return malformed('The URL contains a percent sign that does not start a valid UTF-8 escape.')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError(414, 'uri_too_long', 'A path segment is longer than any valid name.')
  }
  const status = error.statusCode ?? 500
  return status < 500
    ? new ApiError(status, 'malformed', error.message)
    : new ApiError(500, 'internal_error', 'An internal error occurred. Try again.')
}

const noSecretKey = new ApiError(
  503,
  'not_configured',
  'This service cannot store secrets. Its operator must set FOOTFALL_SECRET_KEY.',
)

const mediaTypesOf = ({ server }: FastifyRequest): string[] =>
  [
    'application/json',
    'text/plain',
    'text/csv',
    'application/x-ndjson',
    'multipart/form-data',
  ].filter((type) => server.hasContentTypeParser(type))

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route decompresses request bodies itself. */
    unpacksBody?: true
  }
}

/** A preParsing hook that refuses compressed bodies, so that they are not reported as malformed JSON. */
export function refuseEncodedBody(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: never) => void,
): void {
  const { 'content-encoding': encoding } = request.headers
  const takesIt = request.routeOptions.config.unpacksBody === true
  if (takesIt || encoding === undefined || encoding.toLowerCase() === 'identity')
    done(null, payload as never)
  else {
    done(
      new ApiError(415, 'unsupported_media_type', 'Content-Encoding: send the body uncompressed.', {
        headers: { 'accept-encoding': 'identity' },
      }),
    )
  }
}
