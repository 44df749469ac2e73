import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Asked {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Answered {
  status: number
  headers?: Record<string, string>
  body?: string | Buffer | object
}

/** What a destination does instead of just answering, or besides. */
export type Mishap =
  /** Answers this, and does nothing. */
  | { answer: Answered }
  /** The connection dies before anything was done, or after all of it was. */
  | { dies: 'before' | 'after' }
  /** All was done, and no answer comes. */
  | { hangs: true }
  /** All was done, and half of the answer comes. */
  | { truncates: true }

export interface StandIn {
  url: string
  /** Everything that was asked. */
  asked: Asked[]
  /** What goes wrong with the next requests, one after the other; null: nothing. */
  mishaps: (Mishap | null)[]
  /** What goes wrong with those after them. */
  misbehave: (asked: Asked) => Mishap | null
  close(): Promise<void>
}

/**
 * A server that stands for a destination: it answers by `handle`. Mishaps spare the requests by which a run checks that
 * the destination can be reached (`isCheck`).
 */
export async function startStandIn(
  handle: (asked: Asked) => Answered | Promise<Answered>,
  isCheck: (asked: Asked) => boolean = () => false,
): Promise<StandIn> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy())
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const asked: Asked = {
      method: request.method!,
      url: new URL(request.url!, standIn.url),
      headers: request.headers,
      body: await buffer(request),
    }
    standIn.asked.push(asked)
    const mishap = isCheck(asked) ? null : nextMishap(asked)
    if (mishap && 'dies' in mishap && mishap.dies === 'before') return request.socket.destroy()
    const answered = mishap && 'answer' in mishap ? mishap.answer : await handle(asked)
    if (mishap && 'dies' in mishap) return request.socket.destroy()
    if (mishap && 'hangs' in mishap) return
    const bytes = bytesOf(answered.body)
    const headers = {
      ...(typeof answered.body === 'object' && !Buffer.isBuffer(answered.body) && jsonHeaders),
      ...answered.headers,
      'content-length': bytes.length,
    }
    response.writeHead(answered.status, headers)
    if (mishap && 'truncates' in mishap) {
      response.write(bytes.subarray(0, bytes.length >> 1), () => request.socket.destroy())
      return
    }
    response.end(bytes)
  }
  const nextMishap = (asked: Asked) =>
    standIn.mishaps.length > 0 ? standIn.mishaps.shift()! : standIn.misbehave(asked)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    mishaps: [],
    misbehave: () => null,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return standIn
}

const jsonHeaders = { 'content-type': 'application/json' }

const bytesOf = (body: Answered['body']): Buffer => {
  if (body === undefined) return Buffer.alloc(0)
  return Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

export const jsonOf = <T>({ body }: Asked): T => JSON.parse(body.toString()) as T
