import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'

/** A request as the collector's ClickHouse client makes it, to be made again without the client. */
export interface RecordedRequest {
  /** Address path with all settings and bound values. */
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Has the client call a server that notes the request and answers nothing. */
export async function record(
  url: string,
  database: string,
  call: (clickhouse: ClickHouse) => Promise<unknown>,
): Promise<RecordedRequest> {
  let recorded: RecordedRequest | null = null
  const server = createServer(async (incoming, outgoing) => {
    recorded = { path: incoming.url!, headers: incoming.headers, body: await buffer(incoming) }
    outgoing.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = new URL(url)
  address.port = String((server.address() as AddressInfo).port)
  const clickhouse = openClickHouse(address.href, database)
  try {
    await call(clickhouse)
  } finally {
    await clickhouse.close()
    server.close()
  }
  if (!recorded) throw new Error('the client made no request')
  return recorded
}

/** An answer, and when it came: milliseconds from the request until its first and its last byte. */
export interface Timed {
  body: Buffer
  firstMs: number
  ms: number
}

/** Makes a recorded request, with other values in its address or another body, and reads the whole answer. */
export function replay(
  url: string,
  { path, headers, body: recordedBody }: RecordedRequest,
  change: { parameters?: Record<string, string>; body?: readonly Buffer[] } = {},
): Promise<Timed> {
  const { address, kept } = changed(url, { path, headers }, change.parameters)
  return send(address, 'POST', kept, change.body ?? [recordedBody])
}

/** Makes a recorded request with other values in its address, and reads the answer like `drain`. */
export function drainRecorded(
  url: string,
  { path, headers, body }: RecordedRequest,
  parameters: Record<string, string>,
): Promise<Drained> {
  const { address, kept } = changed(url, { path, headers }, parameters)
  return drain(address, 'POST', kept, [body])
}

function changed(
  url: string,
  { path, headers }: Pick<RecordedRequest, 'path' | 'headers'>,
  parameters: Record<string, string> = {},
) {
  const address = new URL(path, url)
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  const { host, connection, 'transfer-encoding': _, ...kept } = headers
  return { address, kept }
}

const agent = new Agent({ keepAlive: true })

/** Makes a request and reads the whole answer. Rejects when it is not 200. */
export async function send(
  address: URL,
  method: 'GET' | 'POST',
  headers: IncomingHttpHeaders,
  body: readonly Buffer[] = [],
): Promise<Timed> {
  const startedAt = performance.now()
  let firstMs = Number.NaN
  const bytes = await ask(address, method, headers, body, (answer) => {
    answer.once('data', () => {
      firstMs = performance.now() - startedAt
    })
    return buffer(answer)
  })
  return { body: bytes, firstMs, ms: performance.now() - startedAt }
}

/** How long an answer is, and how it ends. */
export interface Drained {
  bytes: number
  /** Its last 4 KiB. */
  end: string
}

const endBytes = 4096

/** Makes a request and reads the whole answer, keeping its end alone. Rejects when it is not 200. */
const drain = (
  address: URL,
  method: 'GET' | 'POST',
  headers: IncomingHttpHeaders,
  body: readonly Buffer[] = [],
): Promise<Drained> =>
  ask(address, method, headers, body, async (answer) => {
    let bytes = 0
    let end: Buffer = Buffer.alloc(0)
    for await (const piece of answer as AsyncIterable<Buffer>) {
      bytes += piece.length
      end = Buffer.concat([end, piece.subarray(-endBytes)]).subarray(-endBytes)
    }
    return { bytes, end: end.toString() }
  })

/** The metadata of a page. */
export interface PageMeta {
  records: number
  charged: number
  next_cursor?: string
}

/** Reads a page as JSON, and keeps only its metadata. */
export const drainPage = async (
  address: URL,
  headers: IncomingHttpHeaders,
): Promise<{ bytes: number; meta: PageMeta }> => {
  const { bytes, end } = await drain(address, 'GET', headers)
  return { bytes, meta: JSON.parse(end.slice(end.lastIndexOf('"meta":') + '"meta":'.length, -1)) }
}

function ask<T>(
  address: URL,
  method: 'GET' | 'POST',
  headers: IncomingHttpHeaders,
  body: readonly Buffer[],
  read: (answer: IncomingMessage) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const length = body.reduce((sum, part) => sum + part.length, 0)
    const outgoing = request(
      {
        agent,
        method,
        hostname: address.hostname,
        port: address.port,
        path: address.pathname + address.search,
        headers: { ...headers, ...(method === 'POST' && { 'content-length': length }) },
      },
      (answer) => {
        if (answer.statusCode === 200) {
          read(answer).then(resolve, reject)
          return
        }
        buffer(answer).then(
          (bytes) => reject(new Error(`${answer.statusCode} ${bytes.toString().slice(0, 300)}`)),
          reject,
        )
      },
    )
    outgoing.on('error', reject)
    for (const part of body) outgoing.write(part)
    outgoing.end()
  })
}
