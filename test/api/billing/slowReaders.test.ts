import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { impatientMs } from '../../chaos/proxy.ts'
import { waitFor } from '../../harness/service.ts'
import { headersOf, openApi, rowsStored } from './api.ts'
import { differences, ledgerOf } from './harness.ts'

let api: Awaited<ReturnType<typeof openApi>>
const readerPatienceMs = 1_000
const idleConnectionMs = 6_000

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

/** What the ledger gained, when all refunds are written. */
async function gained() {
  await api.billing.close()
  const after = await ledgerOf(api.accounts, api.organization)
  return { entries: after.entries - before.entries, records: after.records - before.records }
}

const path = '/api/v3/events/web_event'

/** Asks over a socket of its own, and stops reading when the answer has begun. */
async function stall(accept: string): Promise<{ socket: Socket; isClosed: () => boolean }> {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  let closed = false
  socket.on('error', () => {}).on('close', () => (closed = true))
  const headers = Object.entries({ host: hostname, accept, ...headersOf(api.keys.organization) })
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  socket.write(`GET ${path}?limit=${rowsStored} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  const begun = await new Promise<Buffer>((resolve) => {
    socket.once('data', (bytes: Buffer) => {
      socket.pause()
      resolve(bytes)
    })
  })
  expect(begun.toString('latin1', 0, 15)).toBe('HTTP/1.1 200 OK')
  return { socket, isClosed: () => closed }
}

const forms = ['application/json', 'application/x-ndjson', 'text/csv']

test.each(forms)(
  'a reader of %s who stops for longer than ClickHouse waits, and reads on, is charged the whole page',
  async (accept) => {
    api.setFate('impatient')
    const { socket, isClosed } = await stall(accept)
    await delay(impatientMs + readerPatienceMs + 500)
    socket.resume()
    await waitFor('the broken end', isClosed, 30_000)
    expect(await gained()).toEqual({ entries: 1, records: rowsStored })
  },
  90_000,
)

test.each(['pass', 'impatient'] as const)(
  'a reader who never reads on is let go of, and charged the whole page (ClickHouse: %s)',
  async (fate) => {
    api.setFate(fate)
    const { socket } = await stall('application/x-ndjson')
    const connections = () =>
      new Promise<number>((resolve) => api.server.getConnections((_, count) => resolve(count)))
    const open = await connections()
    await waitFor('the connection to be given up', async () => (await connections()) < open, 60_000)
    expect(await gained()).toEqual({ entries: 1, records: rowsStored })
    socket.destroy()
  },
  90_000,
)

test.each(forms)('what ClickHouse breaks off of %s is refunded to the record', async (accept) => {
  api.setFate('cut')
  const answer = await api.ask(`${path}?limit=${rowsStored}`, {
    headers: { accept, 'accept-encoding': 'identity' },
  })
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const bytes of answer.body!) text += decoder.decode(bytes as Uint8Array, { stream: true })
  } catch {
    // It breaks off: that is what is asked for.
  }
  const delivered = text.split('https://shop.example/').length - 1
  expect(delivered).toBeGreaterThan(0)
  expect(delivered).toBeLessThan(rowsStored)
  expect(await gained()).toEqual({ entries: 2, records: delivered })
  // Only whole rows are handed over, and what joins the next to them.
  if (accept === 'application/x-ndjson') {
    for (const line of text.split('\n').slice(0, -1)) expect(JSON.parse(line)).toHaveProperty('event_id')
    expect(text.endsWith('\n{')).toBe(true)
  }
})
