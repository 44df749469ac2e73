import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { listenInFrontOf, type ProxyServer } from '../harness/proxyServer.ts'

/** Stands between the service and ClickHouse, and spoils what goes through it. */
export interface ClickHouseProxy extends ProxyServer {
  /** Answers to inserts of events that ClickHouse gave and the service never saw. */
  readonly resets: number
  /** Impatient pages that were not taken. */
  readonly givenUp: number
}

/**
 * Fate of a page of rows from ClickHouse. The proxy passes it, turns it into an error, or interrupts it. Or
 * it gives up, as ClickHouse does, if its client does not read for a while.
 */
export type PageFate = 'pass' | 'refuse' | 'cut' | 'impatient'

/** How long an impatient page waits; ClickHouse itself waits half a minute. */
const impatientMs = 2_000

/** As long an address as ClickHouse itself takes: bound values travel in it. */
const addressBytesMax = 1024 ** 2

/**
 * Starts a proxy to the ClickHouse at `targetUrl`. If `loseAnswer` returns true for an insert of events, it
 * passes the request, waits for the answer, and then resets the connection to the service. `fateOfPage`
 * decides about a page of rows; it sees the address with the bound values.
 */
export async function startProxy(
  targetUrl: string,
  loseAnswer: () => boolean = () => false,
  fateOfPage: (address: string) => PageFate = () => 'pass',
): Promise<ClickHouseProxy> {
  const target = new URL(targetUrl)
  const agent = new Agent({ keepAlive: true })
  let resets = 0
  let givenUp = 0

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const forwarded = request(
        {
          agent,
          hostname: target.hostname,
          port: target.port,
          path: incoming.url,
          method: incoming.method,
          headers: incoming.headers,
        },
        resolve,
      )
      forwarded.on('error', reject)
      incoming.on('error', (error) => {
        // An unfinished insert would delay those who wait for its end.
        forwarded.destroy()
        reject(error)
      })
      incoming.pipe(forwarded)
    })
    const body = await buffer(answer)
    if (isEventsInsert(incoming) && answer.statusCode === 200 && loseAnswer()) {
      resets++
      incoming.socket.resetAndDestroy()
      return
    }
    const fate = isPage(incoming) ? fateOfPage(incoming.url!) : 'pass'
    if (fate === 'refuse') {
      outgoing.writeHead(500, { 'x-clickhouse-exception-code': '241' }).end('MEMORY_LIMIT_EXCEEDED')
      return
    }
    // The body is complete now, so its length is known and it needs no chunks.
    const { 'transfer-encoding': _, ...headers } = answer.headers
    outgoing.writeHead(answer.statusCode!, { ...headers, 'content-length': body.length })
    if (fate === 'pass') outgoing.end(body)
    else if (fate === 'impatient')
      givenUp += (await isTakenWhole(incoming.socket, outgoing, body)) ? 0 : 1
    else outgoing.write(body.subarray(0, body.length >> 1), () => incoming.socket.destroy())
  }

  const server = createServer({ maxHeaderSize: addressBytesMax }, (incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy())
  })
  const listening = await listenInFrontOf(targetUrl, server, (socket) => socket.resetAndDestroy())
  return {
    ...listening,
    get resets() {
      return resets
    },
    get givenUp() {
      return givenUp
    },
  }
}

/** Sends a page to its reader; interrupts it, and returns false, if a piece is not read for a while. */
async function isTakenWhole(
  socket: Socket,
  outgoing: ServerResponse,
  body: Buffer,
): Promise<boolean> {
  const pieceBytes = 64 * 1024
  for (let from = 0; from < body.length; from += pieceBytes) {
    const isTaken = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), impatientMs)
      outgoing.write(body.subarray(from, from + pieceBytes), () => {
        clearTimeout(timer)
        resolve(true)
      })
    })
    if (!(await isTaken)) {
      socket.destroy()
      return false
    }
  }
  outgoing.end()
  return true
}

/** Pages are read without the driver, with the statement in the body. */
function isPage({ method, url }: IncomingMessage): boolean {
  const { searchParams } = new URL(url!, 'http://proxy')
  return method === 'POST' && searchParams.has('wait_end_of_query') && !searchParams.has('query')
}

/** The driver puts the statement of an insert into the address, for the body holds the rows. */
function isEventsInsert({ method, url }: IncomingMessage): boolean {
  const statement = new URL(url!, 'http://proxy').searchParams.get('query') ?? ''
  return method === 'POST' && /^\s*INSERT INTO events\b/i.test(statement)
}
