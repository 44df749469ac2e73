import { type ConflictCode, type ErrorCode, type ErrorWord, errorCodes } from './errorCodes.ts'

/**
 * The errors of the API. `error` is for programs and never changes, with the exact words of the spec.
 * `message` is for people. One handler (answerErrors.ts) turns these into `{ error, code, message, request_id
 * }` and hides everything else behind `internal_error`.
 */
export class ApiError extends Error {
  readonly status: number
  /** The body's `error`, in the words of the contract. */
  readonly error: ErrorWord
  /** Further body keys, and headers such as Retry-After. */
  readonly extra: { body?: Record<string, unknown>; headers?: Record<string, string> }
  /** Machine-readable: the body's `code`. */
  readonly code: ErrorCode

  /** `message` is for people: the body's `message`. */
  constructor(
    status: number,
    error: ErrorWord,
    message: string,
    extra: ApiError['extra'] = {},
    code: ErrorCode = errorCodes[error][0],
  ) {
    super(message)
    this.status = status
    this.error = error
    this.extra = extra
    this.code = code
    this.name = 'ApiError'
  }
}

/** 400: the named parameter, header or body path is wrong. */
export const invalidParameter = (parameter: string, message: string) =>
  new ApiError(400, 'invalid_parameter', `${parameter}: ${message}`, { body: { parameter } })

/** 400: the request is malformed. */
export const malformed = (message: string) => new ApiError(400, 'malformed', message)

/** 401, in the words of the spec's Authentication part. */
export const unauthorized = {
  key: (message = 'The request does not contain a valid API key of this service.') =>
    new ApiError(401, 'Invalid API key', message),
  secret: () =>
    new ApiError(401, 'Invalid API secret', 'The X-Api-Secret header does not match the key.'),
  /** `sentIn` is the header that has the key. */
  secretRequired: (sentIn: string) =>
    new ApiError(
      401,
      'API secret is required',
      `The organization requires the key's secret. Send it in the header X-Api-Secret, in addition to ${sentIn}.`,
    ),
  /** A project key names another project on a pixel or own-project route (spec: Errors and limits). */
  otherProject: () => new ApiError(401, 'Invalid API key', 'This key belongs to another project.'),
  /** An unknown, revoked or expired share link; the error is the same for all. */
  share: () => new ApiError(401, 'invalid_share_link', 'This link is invalid, expired or revoked.'),
  /** A share link whose holder has not given its password. */
  sharePassword: () =>
    new ApiError(401, 'share_password_required', 'This link has a password. Enter it first.'),
  sharePasswordWrong: () => new ApiError(401, 'invalid_credentials', 'The password is wrong.'),
  /** A dashboard route without a signed-in user. */
  session: () => new ApiError(401, 'unauthenticated', 'Sign in to the dashboard first.'),
  /** Sign-in failed; the error is the same for an unknown address and a wrong password. */
  credentials: () =>
    new ApiError(401, 'invalid_credentials', 'The e-mail address or the password is wrong.'),
  secondFactorRequired: () =>
    new ApiError(
      401,
      'second_factor_required',
      'Also send the `code` that your authenticator app shows.',
    ),
  /** The code of the second factor is wrong, already used or too old. */
  code: () =>
    new ApiError(
      401,
      'invalid_code',
      'The code is wrong or was already used. Wait for the next one.',
    ),
}

/** 403: the password is correct, but all organizations of the user require their own identity provider. */
export const singleSignOnRequired = () =>
  new ApiError(
    403,
    'single_sign_on_required',
    'Your organization requires single sign-on. Choose “Use single sign-on” on the sign-in page.',
  )

/** 415: the route accepts only these media types. */
export const unsupportedMediaType = (types: readonly string[]) =>
  new ApiError(
    415,
    'unsupported_media_type',
    `Content-Type: send the body as ${types.join(' or ')}.`,
    {
      headers: { accept: types.join(', ') },
    },
  )

/** 403: the caller is authenticated, but lacks the right. */
export const forbidden = (message: string) => new ApiError(403, 'forbidden', message)

/** 403, in the words of the contract: a key of one project names another project. */
export const projectMismatch = () =>
  new ApiError(
    403,
    'project_id does not match API key scope',
    'project_id does not match API key scope: this key reads and writes only its own project.',
  )

/** 403, in the words of the contract: a project key requests audiences of another project. */
export const accessDenied = () =>
  new ApiError(
    403,
    'access denied',
    'access denied: this key reads and writes only its own project’s audiences.',
  )

/** 409: the state of an object does not allow the request, for the reason `code`; `body` may show that state. */
export const conflict = (code: ConflictCode, message: string, body: Record<string, unknown> = {}) =>
  new ApiError(409, 'conflict', message, { body }, code)

/** Throws 409 "in_use" with the objects that use another one; `say` puts their names into a sentence. */
export function requireUnused(
  users: readonly { name: string }[],
  say: (names: string) => string,
): void {
  if (users.length === 0) return
  const names = users.map(({ name }) => `"${name}"`).join(', ')
  throw conflict('in_use', say(names), { used_by: users })
}

/** 409: an organization must always have an owner who can sign in. */
export const lastOwner = () =>
  new ApiError(
    409,
    'last_owner',
    'This is the last owner of the organization. Make another member an owner first.',
  )

/** 404, in the spec's words. Objects of others answer exactly like missing ones. */
export const notFound = {
  organization: () =>
    new ApiError(
      404,
      'organization not found',
      'You are not a member of an organization with this id.',
    ),
  project: () => new ApiError(404, 'project not found', 'You have no project with this id.'),
  singleSignOn: () =>
    new ApiError(
      404,
      'single sign-on not found',
      'No organization has single sign-on with this name. Ask an owner of your organization for it.',
    ),
  session: () => new ApiError(404, 'session not found', 'You have no session with this id.'),
  emailChange: () =>
    new ApiError(
      404,
      'email change not found',
      'The link was used, has expired, was replaced or canceled, or belongs to another account.',
    ),
  pixel: () => new ApiError(404, 'pixel not found', 'You have no pixel with this id.'),
  build: () => new ApiError(404, 'build not found', 'This audience has no build with this id.'),
  audience: () => new ApiError(404, 'audience not found', 'You have no audience with this id.'),
  alert: () => new ApiError(404, 'alert not found', 'You have no alert with this id.'),
  archive: () => new ApiError(404, 'archive not found', 'You have no archive with this id.'),
  visitAlert: () =>
    new ApiError(404, 'visit alert not found', 'You have no visit alert with this id.'),
  webhook: () => new ApiError(404, 'webhook not found', 'You have no webhook with this id.'),
  delivery: () =>
    new ApiError(404, 'delivery not found', 'This webhook has no delivery with this id.'),
  list: () => new ApiError(404, 'list not found', 'You have no list with this id.'),
  listImport: () => new ApiError(404, 'import not found', 'This list has no import with this id.'),
  campaign: () => new ApiError(404, 'campaign not found', 'You have no campaign with this id.'),
  integration: () =>
    new ApiError(404, 'integration not found', 'You have no integration with this id.'),
  shareLink: () =>
    new ApiError(404, 'share link not found', 'You have no share link with this id.'),
  segment: () => new ApiError(404, 'segment not found', 'You have no segment with this id.'),
  funnel: () => new ApiError(404, 'funnel not found', 'You have no saved funnel with this id.'),
  annotation: () =>
    new ApiError(404, 'annotation not found', 'You have no annotation with this id.'),
  export: () => new ApiError(404, 'export not found', 'You have no export with this id.'),
  exportRun: () => new ApiError(404, 'run not found', 'This export has no run with this id.'),
  field: (name: string) => new ApiError(404, 'field not found', `There is no field "${name}".`),
  taxonomy: (name: string) =>
    new ApiError(404, 'taxonomy not found', `There is no taxonomy "${name}".`),
  member: () =>
    new ApiError(404, 'member not found', 'No member of your organization has this id.'),
  projectMember: () =>
    new ApiError(404, 'project member not found', 'The project has no member with this id.'),
  key: () => new ApiError(404, 'key not found', 'You have no API key with this id.'),
  invitation: () =>
    new ApiError(
      404,
      'invitation not found',
      'The invitation does not exist, was used or has expired.',
    ),
  passwordReset: () =>
    new ApiError(
      404,
      'password reset not found',
      'The link does not exist, was used or has expired.',
    ),
  erasure: () => new ApiError(404, 'erasure not found', 'You have no erasure with this id.'),
  optOut: () => new ApiError(404, 'opt-out not found', 'This person is not on your opt-out list.'),
  route: (method: string, path: string) =>
    new ApiError(404, 'not_found', `There is no route ${method} ${path}.`),
}

/** 405: the path supports only other methods. */
export const methodNotAllowed = (method: string, path: string, allowed: readonly string[]) =>
  new ApiError(
    405,
    'method_not_allowed',
    `There is no route ${method} ${path}. This path accepts ${allowed.join(', ')}.`,
    {
      headers: { allow: allowed.join(', ') },
    },
  )

/** 403: the pixel exists, but its owner has disabled it. */
export const pixelInactive = () =>
  new ApiError(403, 'pixel inactive', 'This pixel has been deactivated.')

/** 503: the request had no effect; the same request will succeed later. */
export const busy = (message: string, retryAfterSeconds: number) =>
  new ApiError(503, 'busy', message, { headers: { 'retry-after': String(retryAfterSeconds) } })

/** 400: the request exceeds the limits of one request. A shorter window may succeed. */
export function queryTooHeavy(
  reason: string,
  window?: { startMs: number; endMs: number },
): ApiError {
  if (!window) {
    return new ApiError(
      400,
      'query_too_heavy',
      `This request is too expensive: ${reason}. Request less.`,
    )
  }
  const [start, end] = [window.startMs, window.endMs].map((ms) => new Date(ms).toISOString())
  return new ApiError(
    400,
    'query_too_heavy',
    `The window from ${start} to ${end} is too expensive for one request: ${reason}. Use a shorter window or fewer filters.`,
    { body: { parameter: 'start_ms', start_ms: window.startMs, end_ms: window.endMs } },
  )
}

/** No response is possible, for example because the outcome of a charge is unknown. The connection closes. */
export class NoAnswerPossible extends Error {}

export class ClientDisconnected extends NoAnswerPossible {
  constructor(message = 'the client disconnected') {
    super(message)
  }
}

/** 406: the Accept header excludes every format of the response. */
export const notAcceptable = (types: readonly string[]) =>
  new ApiError(406, 'not_acceptable', `Accept: this route returns ${types.join(', ')}.`)
