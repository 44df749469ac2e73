import { session } from './session.ts'

/** An answer that is an error: the service's own words (collector/errors.ts). */
export class ApiError extends Error {
  constructor(
    /** 0 when there was no answer. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

const triesMax = 3
/** Longer than this is for the reader to wait, not for us. */
const waitSecondsMax = 3

/**
 * Asks the service and answers its JSON. Reads wait and ask again when there were too many at once. Throws ApiError;
 * when the session has ended, sign-in is shown instead of the page.
 */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  organization: string | null = organizationOfPage(),
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(method, path, body, organization)
    const retryAfterSeconds = Number(answer.headers.get('retry-after') ?? Number.POSITIVE_INFINITY)
    if (
      method === 'GET' &&
      (answer.status === 429 || answer.status === 503) &&
      attempt < triesMax &&
      retryAfterSeconds <= waitSecondsMax
    ) {
      await new Promise((resolve) => setTimeout(resolve, retryAfterSeconds * 1000))
      continue
    }
    if (answer.status === 204) return undefined as T
    const json = await answer.json().catch(() => ({}))
    if (answer.ok) return json
    if (answer.status === 401 && json.error !== 'invalid_credentials') session.value = null
    throw new ApiError(answer.status, json.error ?? 'unknown', messageOf(answer, json.message), json)
  }
}

/** Which organization the page is about: pages of two may be open side by side. */
export const organizationOfPage = (): string | null =>
  /^\/([0-9a-f-]{36})(?:\/|$)/i.exec(location.pathname)?.[1] ?? null

const send = (method: string, path: string, body: unknown, organization: string | null): Promise<Response> =>
  fetch(path, {
    method,
    headers: {
      ...(organization && { 'x-organization-id': organization }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiError(0, 'unreachable', 'The service cannot be reached. Check the connection and try again.')
  })

function messageOf(answer: Response, message: unknown): string {
  const said = typeof message === 'string' ? message : 'Something went wrong. Try again.'
  const retryAfter = answer.status === 429 && answer.headers.get('retry-after')
  return retryAfter ? `${said} Try again in ${retryAfter} s.` : said
}

/** One page of a list. */
export interface Page<T> {
  items: T[]
  /** Asks for the page after this one; absent: there is none. */
  cursor?: string
}

/** Asks a list route for a page; `key` is where its answer keeps the items. */
export async function list<T>(
  path: string,
  key: string,
  query: Record<string, string | undefined>,
): Promise<Page<T>> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const answer = await call<Record<string, unknown>>('GET', `${path}?${new URLSearchParams(given)}`)
  const cursor = answer.next_cursor as string | undefined
  return { items: answer[key] as T[], ...(cursor && { cursor }) }
}
