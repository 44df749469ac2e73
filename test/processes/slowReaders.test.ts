import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import zlib from 'node:zlib'
import { RecordBatchReader } from 'apache-arrow'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { headersOf, openApi, rowsStored } from '../api/billing/api.ts'
import { differences, ledgerOf } from '../api/billing/harness.ts'
import { waitFor } from '../harness/service.ts'

let api: Awaited<ReturnType<typeof openApi>>
const readerPatienceMs = 1_000
// Longer than a busy machine takes to the first byte.
const idleConnectionMs = 30_000

beforeAll(async () => {
  // Eighteen megabytes: more than sockets buffer, so an answer that is not read waits in the middle of its rows.
  api = await openApi({ rowBytes: 60_000, readerPatienceMs, idleConnectionMs })
})
afterAll(() => api.close())

let before: Awaited<ReturnType<typeof ledgerOf>>
beforeEach(async () => {
  before = await ledgerOf(api.accounts, api.organization)
})
afterEach(async () => {
  api.setFate('pass')
  expect(await differences(api.accounts.postgres)).toEqual([])
})

/** New entries of the ledger, after all refunds are written. */
async function gained() {
  await api.billing.close()
  const after = await ledgerOf(api.accounts, api.organization)
  return { entries: after.entries - before.entries, records: after.records - before.records }
}

const path = '/api/v3/events/web_event'

/** Asks over a socket of its own, and stops reading when the answer has begun. */
async function stall(
  accept: string,
  encoding = 'identity',
): Promise<{ socket: Socket; isClosed: () => boolean }> {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  let closed = false
  socket.on('error', () => {}).on('close', () => (closed = true))
  const headers = Object.entries({
    host: hostname,
    accept,
    'accept-encoding': encoding,
    ...headersOf(api.keys.organization),
  })
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  socket.write(`GET ${path}?limit=${rowsStored} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  const begun = await new Promise<Buffer>((resolve, reject) => {
    socket.once('close', () => reject(new Error('the connection was closed before the answer')))
    socket.once('data', (bytes: Buffer) => {
      socket.pause()
      resolve(bytes)
    })
  })
  expect(begun.toString('latin1', 0, 15)).toBe('HTTP/1.1 200 OK')
  return { socket, isClosed: () => closed }
}

const forms = ['application/json', 'application/x-ndjson', 'text/csv']
/** Tables, and what ClickHouse calls their format. */
const tables = {
  'application/vnd.apache.arrow.stream': 'ArrowStream',
  'application/vnd.apache.parquet': 'Parquet',
}
const encodings = ['identity', 'gzip', 'br', 'zstd']
const ways = forms.flatMap((accept) => encodings.map((encoding) => ({ accept, encoding })))
const stallingWays: { accept: string; encoding: string; format?: string }[] = [
  ...ways.filter(({ accept, encoding }) => encoding === 'identity' || accept === forms[0]),
  ...Object.entries(tables).map(([accept, format]) => ({ accept, encoding: 'identity', format })),
]

test.each(stallingWays)(
  'a reader of $accept ($encoding) who stops for longer than ClickHouse waits, and reads on, is charged the whole page',
  async ({ accept, encoding, format }) => {
    api.setFate('impatient', format)
    const givenUp = api.pagesGivenUp()
    const { socket, isClosed } = await stall(accept, encoding)
    await waitFor('ClickHouse to give up', () => api.pagesGivenUp() > givenUp, 120_000)
    await delay(readerPatienceMs + 500)
    socket.resume()
    await waitFor('the broken end', isClosed, 60_000)
    expect(await gained()).toEqual({ entries: 1, records: rowsStored })
  },
  600_000,
)

test.each([
  { fate: 'pass', encoding: 'identity' },
  { fate: 'impatient', encoding: 'identity' },
  { fate: 'pass', encoding: 'zstd' },
] as const)(
  'a reader who never reads on is let go of, and charged the whole page (ClickHouse: $fate, $encoding)',
  async ({ fate, encoding }) => {
    api.setFate(fate)
    const { socket } = await stall('application/x-ndjson', encoding)
    const connections = () =>
      new Promise<number>((resolve) => api.server.getConnections((_, count) => resolve(count)))
    const open = await connections()
    await waitFor(
      'the connection to be given up',
      async () => (await connections()) < open,
      120_000,
    )
    expect(await gained()).toEqual({ entries: 1, records: rowsStored })
    socket.destroy()
  },
  600_000,
)

/** All that came of an answer that breaks off. */
async function readUntilBroken(accept: string, encoding: string): Promise<Buffer> {
  const headers = { accept, 'accept-encoding': encoding, ...headersOf(api.keys.organization) }
  const answer = await new Promise<AsyncIterable<Buffer> & { headers: Record<string, unknown> }>(
    (resolve) => {
      get(`${api.url}${path}?limit=${rowsStored}`, { headers }, (incoming) =>
        resolve(incoming as never),
      )
    },
  )
  expect(answer.headers['content-encoding'] ?? 'identity').toBe(encoding)
  const pieces: Buffer[] = []
  try {
    for await (const piece of answer) pieces.push(piece)
  } catch {
    // It is interrupted, as intended.
  }
  const bytes = Buffer.concat(pieces)
  return encoding === 'identity' ? bytes : decode(bytes, encoding)
}

/** The content of a compressed text up to its interruption. */
async function decode(bytes: Buffer, encoding: string): Promise<Buffer> {
  const decoder = {
    gzip: zlib.createGunzip,
    br: zlib.createBrotliDecompress,
    zstd: zlib.createZstdDecompress,
  }[encoding]!()
  const texts: Buffer[] = []
  decoder.on('data', (text: Buffer) => texts.push(text))
  await new Promise<void>((resolve) => decoder.write(bytes, () => resolve()))
  decoder.read()
  return Buffer.concat(texts)
}

test.each(ways)(
  'what ClickHouse breaks off of $accept ($encoding) is refunded to the record',
  async ({ accept, encoding }) => {
    api.setFate('cut')
    const text = (await readUntilBroken(accept, encoding)).toString()
    const delivered = text.split('https://shop.example/').length - 1
    expect(delivered).toBeGreaterThan(0)
    expect(delivered).toBeLessThan(rowsStored)
    expect(await gained()).toEqual({ entries: 2, records: delivered })
    // Only whole rows are handed over, and what joins the next to them.
    if (accept === 'application/x-ndjson') {
      for (const line of text.split('\n').slice(0, -1))
        expect(JSON.parse(line)).toHaveProperty('event_id')
      expect(text.endsWith('\n{')).toBe(true)
    }
  },
)

test.each(Object.entries(tables))(
  'a table that ClickHouse breaks off is refunded: %s',
  async (accept, format) => {
    api.setFate('cut', format)
    const bytes = await readUntilBroken(accept, 'identity')
    expect(bytes.length).toBeGreaterThan(1_000_000)
    let delivered = 0
    if (format === 'ArrowStream') {
      try {
        for (const batch of RecordBatchReader.from(bytes)) delivered += batch.numRows
      } catch {
        // It breaks off in a batch.
      }
    }
    expect(delivered).toBeLessThan(rowsStored)
    expect(await gained()).toEqual({ entries: 2, records: delivered })
  },
)
