/** Answers leave compressed where a client asks for it, whatever route and form they have. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answering } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

let service: Answering
let key: Record<string, string>
beforeAll(async () => {
  service = (await openTenant({ hasSample: true, hasShop: true })).service
  key = { 'x-api-key': service.demo.test_api_key, 'x-api-secret': service.demo.test_api_secret }
})
afterAll(() => service.stop())

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/** The answer as it is on the wire: fetch would unpack it. */
async function ask(path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST'
  const given = {
    ...key,
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const sent = httpRequest(service.url + path, { method, headers: given }, resolve)
    sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
  return { status: answer.statusCode!, headers: answer.headers, bytes: await buffer(answer) }
}

const decoders = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
} as const

/** Without what differs between two answers to the same request. */
const lasting = (bytes: Buffer): string =>
  bytes.toString().replace(/"((request_id|complete_until)":"[^"]*"|(start|end)_ms":\d+)/g, '""')

const day = 86_400_000
const window = `start_ms=${Date.now() - 6 * day}&end_ms=${Date.now() - day}`
const visitors = () =>
  `/api/v3/events/resolution_full_profile/visitors?project_id=${service.demo.project_id}&${window}&limit=200`

/** Without compression. */
const plainAnswers = new Map<string, Promise<Answer>>()
const encodings = ['gzip', 'br', 'zstd'] as const
/** The answers that are asked for in every encoding; the others have one. */
const inAll = ['a page of events', 'as Arrow', 'the field catalog']

type Case = [string, () => string, Record<string, string>, unknown?]
const cases: Case[] = [
  ['a page of events', () => `/api/v3/events/web_event?${window}&limit=500`, {}],
  [
    'as NDJSON',
    () => `/api/v3/events/web_event?${window}&limit=500`,
    { accept: 'application/x-ndjson' },
  ],
  [
    'as CSV',
    () => `/api/v3/events/resolution_full_profile?${window}&limit=500`,
    { accept: 'text/csv' },
  ],
  [
    'as Arrow',
    () => `/api/v3/events/resolution_full_profile?${window}&limit=500`,
    { accept: 'application/vnd.apache.arrow.stream' },
  ],
  ['with profiles', () => `/api/v3/events/resolution_full_profile?${window}&limit=500`, {}],
  ['visitors', visitors, {}],
  ['counts', () => `/api/v3/events/web_event/counts?${window}&group_by=page_path,hour`, {}],
  [
    'a contact query',
    () => '/api/v1/contact/query',
    {},
    { filter: 'first_name:like:%a%', limit: 50 },
  ],
  [
    'a batch of lookups',
    () => '/api/v1/lookup/batch',
    {},
    {
      items: Array.from({ length: 2_000 }, (_, n) => ({
        id: `${n}`,
        email: `nobody-${n}@known.example`,
      })),
    },
  ],
  ['the field catalog', () => '/api/v1/field-catalog', {}],
  ['the description', () => '/openapi.json', {}],
  ['its page', () => '/docs', { accept: 'text/html' }],
  ['the demo', () => '/demo', { accept: 'text/html' }],
  ['a file of the demo', () => '/demo/assets/shop.css', {}],
  ['metrics', () => '/metrics', {}],
]

describe.each([...encodings.entries()])('%i: %s', (number, encoding) => {
  const mine = ([what]: Case, n: number) => inAll.includes(what) || n % encodings.length === number
  test.each<Case>(cases.filter(mine))(
    '%s says what it says uncompressed, in fewer bytes',
    async (what, path, headers, body) => {
      const asked =
        plainAnswers.get(what) ?? ask(path(), { ...headers, 'accept-encoding': 'identity' }, body)
      plainAnswers.set(what, asked)
      const plain = await asked
      const packed = await ask(path(), { ...headers, 'accept-encoding': encoding }, body)
      expect(plain.bytes.length).toBeGreaterThan(1024)
      expect([plain.status, packed.status]).toEqual([200, 200])
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(packed.headers['content-encoding']).toBe(encoding)
      for (const answer of [plain, packed])
        expect(answer.headers.vary?.toLowerCase()).toContain('accept-encoding')
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length * 0.6)
      if (what !== 'metrics')
        expect(lasting(decoders[encoding](packed.bytes))).toBe(lasting(plain.bytes))
    },
  )

  test('an asset of the dashboard', async () => {
    const shell = (await ask('/', {})).bytes.toString()
    const [asset] = /\/dashboard\/assets\/main-[^"]+/.exec(shell)!
    // Files are compressed once, when they are built: in gzip and Brotli.
    const { headers } = await ask(asset, { 'accept-encoding': `${encoding}, gzip;q=0.5` })
    expect(headers['content-encoding']).toBe(encoding === 'zstd' ? 'gzip' : encoding)
  })
})

test.each([
  ['zstd, br, gzip', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip, zstd;q=0.5', 'gzip'],
  ['zstd;q=0, gzip', 'gzip'],
  ['*', 'zstd'],
  ['deflate', undefined],
  ['gzip;q=0', undefined],
  ['', undefined],
])('Accept-Encoding: %s gets %s', async (accepted, encoding) => {
  const { headers } = await ask('/api/v1/field-catalog', { 'accept-encoding': accepted })
  expect(headers['content-encoding']).toBe(encoding)
})

test('what is smaller than 1 KiB stays as it is', async () => {
  for (const path of ['/healthz', '/api/v1/whoami', '/nothing']) {
    const { headers, bytes } = await ask(path, { 'accept-encoding': 'gzip' })
    expect(bytes.length).toBeLessThan(1024)
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers['content-length']).toBe(String(bytes.length))
  }
})
