import { Agent, createServer, type IncomingHttpHeaders, request } from 'node:http'
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
  const address = new URL(path, url)
  for (const [name, value] of Object.entries(change.parameters ?? {})) address.searchParams.set(name, value)
  const { host, connection, 'transfer-encoding': _, ...kept } = headers
  return send(address, 'POST', kept, change.body ?? [recordedBody])
}

const agent = new Agent({ keepAlive: true })

/** Makes a request and reads the whole answer. Rejects when it is not 200. */
export function send(
  address: URL,
  method: 'GET' | 'POST',
  headers: IncomingHttpHeaders,
  body: readonly Buffer[] = [],
): Promise<Timed> {
  return new Promise((resolve, reject) => {
    const length = body.reduce((sum, part) => sum + part.length, 0)
    const startedAt = performance.now()
    const outgoing = request(
      {
        ...{ agent, method, hostname: address.hostname, port: address.port },
        path: address.pathname + address.search,
        headers: { ...headers, ...(method === 'POST' && { 'content-length': length }) },
      },
      (answer) => {
        let firstMs = Number.NaN
        answer.once('data', () => {
          firstMs = performance.now() - startedAt
        })
        buffer(answer).then((bytes) => {
          const ms = performance.now() - startedAt
          if (answer.statusCode === 200) resolve({ body: bytes, firstMs, ms })
          else reject(new Error(`${answer.statusCode} ${bytes.toString().slice(0, 300)}`))
        }, reject)
      },
    )
    outgoing.on('error', reject)
    for (const part of body) outgoing.write(part)
    outgoing.end()
  })
}
