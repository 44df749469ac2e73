/** `footfall-client`: the API as functions, in Node and in browsers. client.d.ts has its types. */
import type { CallOptions, Client, ClientOptions, OperationId } from './client.d.ts'
import { operations } from './operations.ts'
import { requestOf } from './request.ts'
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

export const requestFor = (operation: OperationId, params: Given): Request =>
  requestOf(operations[operation], params)

function methodOf(operation: string, send: Send) {
  const call = (params?: Given, options?: CallOptions) =>
    send(requestOf(operation, params), options, answerOf) as Promise<Given>

  async function* pages(params?: Given, options?: CallOptions) {
    for (let cursor = params?.cursor; ; ) {
      const page = await call({ ...params, cursor }, options)
      yield page
      const { next_cursor, has_more } = { ...page, ...(page.meta as Given | undefined) }
      // The feed in order of arrival has a next cursor even when it has no more rows.
      if (next_cursor === undefined || has_more === false) return
      cursor = next_cursor
    }
  }

  async function* all(params?: Given, options?: CallOptions) {
    for await (const page of pages(params, options))
      yield* Object.values(page).find(Array.isArray) ?? []
  }

  const raw = (params?: Given, options?: CallOptions) =>
    send(requestOf(operation, params), options, (answer) => answer)

  return Object.assign(call, { pages, all, raw })
}

async function answerOf(answer: Response): Promise<unknown> {
  if (answer.status === 204) return undefined
  return answer.headers.get('content-type')?.startsWith('application/json') ? answer.json() : answer
}
