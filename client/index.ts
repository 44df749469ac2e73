/** `footfall/client`: the API as functions, in Node and in browsers. What it offers is typed in client.d.ts. */
import type { CallOptions, Client, ClientOptions } from './client.d.ts'
import { operations } from './operations.ts'
import { createSend, type Request, type Send } from './send.ts'

export { ApiError } from './apiError.ts'
export type * from './client.d.ts'

type Given = Readonly<Record<string, unknown>>

export const createClient = (options: ClientOptions = {}): Client => {
  const send = createSend(options)
  return Object.fromEntries(
    Object.entries(operations).map(([id, operation]) => [id, methodOf(operation, send)]),
  ) as unknown as Client
}

function methodOf(operation: string, send: Send) {
  const call = (params?: Given, options?: CallOptions) =>
    send(requestOf(operation, params), options, answerOf) as Promise<Given>

  async function* pages(params?: Given, options?: CallOptions) {
    for (let cursor = params?.cursor; ; ) {
      const page = await call({ ...params, cursor }, options)
      yield page
      const { next_cursor, has_more } = { ...page, ...(page.meta as Given | undefined) }
      // The feed in order of arrival has a place to go on from even when it has no more.
      if (next_cursor === undefined || has_more === false) return
      cursor = next_cursor
    }
  }

  async function* all(params?: Given, options?: CallOptions) {
    for await (const page of pages(params, options)) yield* Object.values(page).find(Array.isArray) ?? []
  }

  const raw = (params?: Given, options?: CallOptions) =>
    send(requestOf(operation, params), options, (answer) => answer)

  return Object.assign(call, { pages, all, raw })
}

/**
 * Puts the parameters where the operation has them ("PATCH /api/v1/audiences/{audience_id}?project_id"): what its path
 * names into the path; what it names behind that, and all else of a GET, into the query; the rest into the body.
 */
function requestOf(operation: string, params: Given = {}): Request {
  const [method, target, charged] = operation.split(' ') as [string, string, string?]
  const [template, queryNames = ''] = target.split('?') as [string, string?]
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== undefined))
  const path = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = rest.get(name)
    if (value === undefined) throw new TypeError(`${name} is missing, which ${template} names`)
    rest.delete(name)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of rest) {
    if (method === 'GET' || queryNames.split('&').includes(name)) query.append(name, String(value))
    else body[name] = value
  }
  // A body may lack all of its members; only DELETE may have none.
  const hasBody = method !== 'GET' && !(method === 'DELETE' && Object.keys(body).length === 0)
  return {
    method,
    path: `${path}${String(query) && `?${query}`}`,
    isCharged: charged !== undefined,
    ...(hasBody && { body }),
  }
}

async function answerOf(answer: Response): Promise<unknown> {
  if (answer.status === 204) return undefined
  return answer.headers.get('content-type')?.startsWith('application/json') ? answer.json() : answer
}
