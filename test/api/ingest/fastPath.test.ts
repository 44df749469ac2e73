import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beaconOf, chrome, customEvent, readEvent } from '../../harness/api.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
beforeAll(async () => {
  const env = { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' }
  service = (await openTenant({ env })).service
})
afterAll(() => service.stop())

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/** Posts to /e: with a Content-Length in front of the router, in chunks through it. */
function post(
  body: string | Buffer,
  isInChunks: boolean,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = isInChunks
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': Buffer.byteLength(body) }
    const sending = httpRequest(
      `${service.url}/e`,
      {
        method: 'POST',
        headers: { 'user-agent': chrome, 'content-type': 'text/plain', ...headers, ...length },
      },
      async (answer) => {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk as Buffer)
        resolve({
          status: answer.statusCode!,
          headers: answer.headers,
          body: JSON.parse(Buffer.concat(chunks).toString()),
        })
      },
    )
    sending.on('error', reject)
    sending.end(body)
  })
}

/** Results that must be the same for every path of a beacon. */
const comparable = ({ status, headers, body }: Answer) => {
  const { date: _date, 'x-request-id': requestId, ...told } = headers
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  const { request_id, ...said } = body
  return {
    status,
    headers: { ...told, 'content-length': request_id ? 'any' : told['content-length'] },
    said,
  }
}

const cookie_id = '0190f0a0-0000-4000-8000-000000000001'
const shop = 'https://shop.example'
const ignoredAddress = '198.51.100.99'

describe('a beacon in front of the router is answered as one through it', () => {
  const beacons: Record<string, () => [string | Buffer, Record<string, string>?]> = {
    'one event': () => [JSON.stringify(beaconOf(service, [customEvent()], { cookie_id }))],
    'from a page': () => [
      JSON.stringify(beaconOf(service, [customEvent()], { cookie_id })),
      { origin: shop, 'sec-fetch-site': 'cross-site' },
    ],
    'with a charset': () => [
      JSON.stringify(beaconOf(service, [customEvent()], { cookie_id })),
      { 'content-type': 'application/json; charset=utf-8' },
    ],
    'through a proxy with TLS': () => [
      JSON.stringify(beaconOf(service, [customEvent()], { cookie_id })),
      {
        origin: shop,
        'sec-fetch-site': 'same-site',
        'x-forwarded-proto': 'http, https',
        'x-forwarded-for': '192.0.2.7',
      },
    ],
    'half of it wrong': () => [
      JSON.stringify(beaconOf(service, [customEvent(), { event_type: 'nonsense' }], { cookie_id })),
    ],
    'without consent': () => [
      JSON.stringify(beaconOf(service, [customEvent()], { cookie_id: null })),
      { cookie: `footfall=${cookie_id}` },
    ],
    'of no pixel': () => [
      JSON.stringify({ ...beaconOf(service, [customEvent()]), pixel_id: cookie_id }),
      { origin: shop },
    ],
    'of an ignored network': () => [
      JSON.stringify(beaconOf(service, [customEvent()], { cookie_id })),
      { 'x-forwarded-for': ignoredAddress },
    ],
    'no JSON': () => ['{"pixel_id"', { origin: shop }],
    'no UTF-8': () => [Buffer.from([0x7b, 0xff, 0x7d])],
    'no object': () => ['[]'],
    empty: () => [''],
    'of another type': () => ['{}', { 'content-type': 'text/html' }],
    packed: () => ['{}', { 'content-encoding': 'gzip' }],
    'too large': () => ['x'.repeat(1_100_000)],
  }
  beforeAll(async () => {
    const { api_key, api_secret, project_id } = service.demo
    await fetch(`${service.url}/api/v1/project/update`, {
      method: 'PUT',
      headers: {
        'x-api-key': api_key,
        'x-api-secret': api_secret,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ project_id, ignored_networks: [ignoredAddress] }),
    })
    const [body, headers = {}] = beacons['of an ignored network']!()
    await waitFor('the setting', async () => (await post(body, false, headers)).body.ignored === 1)
  })
  test.each(Object.entries(beacons))('%s', async (_name, make) => {
    const [body, headers = {}] = make()
    const inFront = await post(body, false, headers)
    const through = await post(body, true, headers)
    expect(comparable(inFront)).toEqual(comparable(through))
    if (inFront.status >= 400) expect(inFront.body.request_id).toMatch(/^[\da-f-]{36}$/)
  })
})

test('a sender behind proxies is the last one that is not trusted, whichever way', async () => {
  const addresses: Record<string, string> = {
    '192.0.2.9, 198.51.100.4, 10.1.2.3': '198.51.100.0',
    '2001:db8::7': '2001:db8::',
    '10.9.9.9': '10.9.9.0',
  }
  for (const [forwarded, address] of Object.entries(addresses)) {
    for (const isInChunks of [false, true]) {
      const event = customEvent()
      const body = JSON.stringify(beaconOf(service, [event]))
      expect((await post(body, isInChunks, { 'x-forwarded-for': forwarded })).status).toBe(200)
      expect((await readEvent(service, event.event_id)).client_ip).toBe(address)
    }
  }
})
