import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beaconHeaders, isPlainBeacon } from '../../collector/ingest/beacon/beaconRequest.ts'
import { readBetweenRequests } from '../../collector/ingest/wire/betweenRequests.ts'
import { answerText } from '../../collector/ingest/wire/wireBeacon.ts'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { alike, converse, openedInFront, type Pace } from './converse.ts'
import { hostileConversation } from './requests.ts'

/** A server that answers with the body it has read, and refuses beacons that request it. */
interface Echo {
  server: Server
  port: number
  /** How many beacons did not go through Node's parser. */
  taken: number
}

const told = (headers: Record<string, unknown>) => beaconHeaders.map((name) => headers[name])

const echoOf = (headers: Record<string, unknown>, body: Buffer): string =>
  JSON.stringify({ told: told(headers), body: createHash('sha1').update(body).digest('hex') })

const headersOf = (body: string) => [
  'Content-Type',
  'application/json',
  'Content-Length',
  String(Buffer.byteLength(body)),
]

/** As long as a disk takes: answers are not yet there when what follows is read. */
const answerMs = 3

async function startEcho(isInFront: boolean): Promise<Echo> {
  const server = createServer()
  const echo: Echo = { server, port: 0, taken: 0 }
  const wire =
    isInFront &&
    readBetweenRequests(server, async ({ headers, body }) => {
      echo.taken++
      await delay(answerMs)
      if (body.includes('refuse')) throw new Error('refused')
      const text = echoOf(headers, body)
      return { text: answerText(headersOf(text), text, server.keepAliveTimeout), encoding: 'utf8' }
    })
  server.on('request', (request: IncomingMessage, response) => {
    const isKnownRefusal = wire ? wire.refusalOf(request) !== undefined : false
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      if (!isKnownRefusal) await delay(answerMs)
      const body = Buffer.concat(chunks)
      if (isKnownRefusal || (isPlainBeacon(request) && body.includes('refuse'))) {
        response.writeHead(400, headersOf('refused')).end('refused')
        return
      }
      if (isPlainBeacon(request)) {
        const text = echoOf(request.headers, body)
        response.writeHead(200, headersOf(text)).end(text)
      } else {
        const text = `${request.method} ${request.url} ${body.length}`
        response.writeHead(200, headersOf(text)).end(text)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  echo.port = (server.address() as AddressInfo).port
  return echo
}

let inFront: Echo
let nodes: Echo
beforeAll(async () => {
  inFront = await startEcho(true)
  nodes = await startEcho(false)
})
afterAll(() => {
  for (const { server } of [inFront, nodes]) {
    server.close()
    server.closeAllConnections()
  }
})

/**
 * The last try leaves time for every answer, also on a busy machine: then a difference is real. In front of
 * Node's parser a beacon is answered before the rest is read. So an error in the next write overtakes more
 * answers if it arrives before they are written.
 */
const paces: Pace[] = [
  { betweenWritesMs: 2, silentMs: 40 },
  { betweenWritesMs: 100, silentMs: 1_000 },
  { betweenWritesMs: 2_000, silentMs: 10_000 },
]

async function difference(writes: string[]): Promise<{ mine: string[]; nodes: string[] } | null> {
  let both = { mine: [''], nodes: [''] }
  for (const pace of paces) {
    const talks = [inFront, nodes].map(({ port }) => converse(port, openedInFront, writes, pace))
    const [mine, node] = await Promise.all(talks)
    both = alike(mine!, node!)
    if (JSON.stringify(both.mine) === JSON.stringify(both.nodes)) return null
  }
  return both
}

describe('what is read in front of Node’s parser is what Node reads', () => {
  test('whatever requests hold, and however their bytes arrive', async () => {
    const seed = Number(process.env.FUZZ_SEED ?? 1)
    const random = seededRandom(seed)
    const takenBefore = inFront.taken
    const conversations = Array.from({ length: 1_500 }, () =>
      hostileConversation(random, () =>
        random.pick(['{"a":1}', 'refuse', '{}', 'x'.repeat(5_000), '\r\n\r\n']),
      ),
    )
    const faults: unknown[] = []
    // With many differences, three are reported, within the test's time.
    const work = async () => {
      while (faults.length < 3) {
        const writes = conversations.pop()
        if (!writes) return
        const found = await difference(writes)
        if (found) faults.push({ writes, ...found })
      }
    }
    await Promise.all(Array.from({ length: 16 }, work))
    expect(faults.length, `seed ${seed}: ${JSON.stringify(faults.slice(0, 3))}`).toBe(0)
    expect(inFront.taken - takenBefore).toBeGreaterThan(500)
  }, 600_000)

  test('a beacon that is cut anywhere, and one that follows it', async () => {
    const text = [
      'POST /e HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n{"a": 12}',
      'POST /e HTTP/1.1\r\nhost: localhost\r\nOrigin: https://shop.example\r\n',
      'content-type: application/json\r\ncontent-length: 4\r\n\r\n\r\n\r\n',
    ].join('')
    const cuts = Array.from({ length: text.length - 1 }, (_, index) => index + 1)
    const work = async () => {
      for (let cut = cuts.pop(); cut; cut = cuts.pop())
        expect(await difference([text.slice(0, cut), text.slice(cut)]), `cut at ${cut}`).toBeNull()
    }
    await Promise.all(Array.from({ length: 16 }, work))
  }, 600_000)
})

test('a beacon that is being answered when the server closes is answered, and the next is Node’s', async () => {
  const server = createServer((_request, response) => response.end('Node'))
  let answer = () => {}
  const arrived = new EventEmitter()
  const wire = readBetweenRequests(server, async () => {
    arrived.emit('beacon')
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return {
      text: answerText(headersOf('mine'), 'mine', server.keepAliveTimeout),
      encoding: 'latin1',
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const beacon =
    'POST /e HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}'
  const hasArrived = once(arrived, 'beacon')
  const talk = converse(port, openedInFront, [beacon, beacon], {
    betweenWritesMs: 2,
    silentMs: 2_000,
  })
  await hasArrived
  let isClosed = false
  const closing = wire.close().then(() => {
    isClosed = true
  })
  await delay(20)
  expect(isClosed).toBe(false)
  answer()
  await closing
  expect((await talk).map(({ text }) => text.split('\r\n\r\n')[1]?.includes('mine'))).toEqual([
    true,
    false,
  ])
  server.close()
  server.closeAllConnections()
}, 600_000)

test('what arrives while Node answers a refused beacon waits behind what came with that beacon', async () => {
  const server = createServer(async (_request, response) => {
    await delay(100)
    response.writeHead(400, headersOf('refused')).end('refused')
  })
  const wire = readBetweenRequests(server, async ({ body }) => {
    if (body.includes('refuse')) throw new Error('refused')
    return {
      text: answerText(headersOf('mine'), 'mine', server.keepAliveTimeout),
      encoding: 'latin1',
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const beaconOf = (body: string) =>
    `POST /e HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const good = beaconOf('{"a":1}')
  const writes = [beaconOf('refuse') + good.slice(0, 30), good.slice(30) + good]
  const answers = await converse(port, openedInFront, writes, {
    betweenWritesMs: 30,
    silentMs: 1_000,
  })
  expect(answers.map(({ text }) => text.split('\r\n\r\n')[1])).toEqual(['refused', 'mine', 'mine'])
  await wire.close()
  server.close()
  server.closeAllConnections()
}, 600_000)
