import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  beaconOf,
  chrome,
  customEvent,
  postBeacon,
  readEvent,
  readRows,
} from '../../harness/api.ts'
import { type Answer, converse } from '../../harness/converse.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
beforeAll(async () => {
  const env = { FOOTFALL_EVENTS_PER_IP: '20', FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' }
  service = (await openTenant({ env })).service
})
afterAll(() => service.stop())

const from = (ip: string) =>
  postBeacon(service.url, beaconOf(service, [customEvent()]), { 'x-forwarded-for': ip })

/** Sends a beacon from each address, all at once: a busy machine would spread requests over many seconds. */
function flood({ url, demo }: Answering, addresses: readonly string[]): Promise<Answer[]> {
  const requests = addresses.map((ip, n) => {
    const body = JSON.stringify(beaconOf({ demo }, [customEvent()]))
    const connection = n === addresses.length - 1 ? 'close' : 'keep-alive'
    return `POST /e HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${ip}\r\nUser-Agent: ${chrome}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: ${connection}\r\n\r\n${body}`
  })
  return converse(Number(new URL(url).port), [requests.join('')], {
    betweenWritesMs: 0,
    silentMs: 60_000,
  })
}

const refusedOf = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 429)

test('an address that floods gets 429 with Retry-After; others are not touched; a second later all is well', async () => {
  const answers = await flood(service, Array(60).fill('203.0.113.7'))
  const refused = refusedOf(answers)
  expect(refused.length).toBeGreaterThanOrEqual(20)
  expect(refused.length + answers.filter(({ status }) => status === 200).length).toBe(60)
  expect(refused[0]!.text).toMatch(/^retry-after: 1\r$/im)
  expect(refused[0]!.text).toContain('"error":"rate_limited"')
  expect((await from('203.0.113.8')).status).toBe(200)
  await waitFor('the next second', async () => (await from('203.0.113.7')).ok)
})

test('a call of Segment’s API that gets 429 stores no message of any visitor', async () => {
  const { demo, url } = service
  const batch = Array.from({ length: 40 }, () => ({
    type: 'track',
    event: 'Flooded',
    anonymousId: randomUUID(),
    messageId: randomUUID(),
  }))
  const call = async () => {
    const answer = await fetch(`${url}/v1/batch`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '203.0.113.20', 'user-agent': chrome },
      body: JSON.stringify({ writeKey: demo.pixel_id, batch }),
    })
    return answer.status
  }
  let status = 200
  // Only messages of the last call, the refused one, are new.
  for (let tries = 0; status === 200 && tries < 20; tries++) {
    for (const message of batch) message.messageId = randomUUID()
    const warm = await flood(service, Array(40).fill('203.0.113.20'))
    expect(warm).toHaveLength(40)
    status = await call()
  }
  expect(status).toBe(429)
  const after = customEvent()
  await postBeacon(url, beaconOf(service, [after]), { 'x-forwarded-for': '203.0.113.21' })
  await readEvent(service, after.event_id)
  const refused = batch.map(({ messageId }) => messageId).join('|')
  expect(await readRows(service, { filter: `event_id:in:${refused}` })).toEqual([])
})

test('calls that store nothing use up the limit of their address, never that of the pixel', async () => {
  const env = {
    FOOTFALL_EVENTS_PER_IP: '20',
    FOOTFALL_EVENTS_PER_PIXEL: '5000',
    FOOTFALL_TRUSTED_PROXIES: '127.0.0.1',
  }
  const { service: small } = await openTenant({ env })
  const call = async (ip: string, type: object) => {
    const batch = Array.from({ length: 2_500 }, () => ({ anonymousId: randomUUID(), ...type }))
    const answer = await fetch(`${small.url}/v1/batch`, {
      method: 'POST',
      headers: { 'x-forwarded-for': ip, 'user-agent': chrome, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ writeKey: small.demo.pixel_id, batch })),
    })
    return answer.status
  }
  const tooOld = { type: 'track', event: 'x', timestamp: '2001-01-01T00:00:00Z' }
  for (const [n, type] of [{ type: 'identify' }, tooOld, { type: 'nothing' }].entries()) {
    const ip = `203.0.113.${30 + n}`
    expect(await call(ip, type)).toBe(200)
    // The address waits, and the pixel takes the events of others.
    expect(await call(ip, type)).toBe(429)
    const beacon = beaconOf(
      small,
      Array.from({ length: 200 }, () => ({
        type: 'track',
        id: Math.random(),
        url: 'https://a.example',
        at: Date.now(),
        name: 'x',
        properties: {},
      })),
    )
    const answer = await postBeacon(small.url, beacon, {
      'x-forwarded-for': `203.0.113.${40 + n}`,
    })
    expect(await answer.json()).toMatchObject({ accepted: 200 })
  }
  await small.stop()
}, 600_000)

test('calls of Segment’s API with wrong keys or unreadable bodies use up the limit of their address', async () => {
  const bodies = [
    JSON.stringify({ writeKey: 'no pixel', event: 'x' }),
    JSON.stringify({ writeKey: `${service.demo.pixel_id}:ff_live_x:y`, event: 'x' }),
    '{',
  ]
  for (const [n, body] of bodies.entries()) {
    const headers = { 'x-forwarded-for': `203.0.113.${60 + n}`, 'user-agent': chrome }
    const call = async () =>
      (await fetch(`${service.url}/v1/track`, { method: 'POST', headers, body })).status
    const statuses = await Promise.all(Array.from({ length: 60 }, call))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(20)
    expect(new Set(statuses)).toEqual(new Set([429, n < 2 ? 401 : 400]))
  }
})

test('of IPv6 the addresses of one /64 count together', async () => {
  const addresses = Array.from({ length: 60 }, (_, n) => `2001:db8:0:1::${n.toString(16)}`)
  expect(refusedOf(await flood(service, addresses)).length).toBeGreaterThanOrEqual(20)
  expect((await from('2001:db8:0:2::1')).status).toBe(200)
})

test('an address that is told by nobody we trust is not believed', async () => {
  const { service: plain } = await openTenant({ env: { FOOTFALL_EVENTS_PER_IP: '5' } })
  const answers = await flood(
    plain,
    Array.from({ length: 30 }, (_, n) => `203.0.113.${n}`),
  )
  expect(refusedOf(answers).length).toBeGreaterThan(10)
  await plain.stop()
})

test('a client that dribbles its headers is cut off, and holds nobody up', async () => {
  const { hostname, port } = new URL(service.url)
  // It neither reads what is answered nor closes its side.
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => {})
  socket.write('POST /e HTTP/1.1\r\nHost: x\r\n')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const dribble = setInterval(() => socket.write('X-A: b\r\n'), 500)
  expect((await from('203.0.113.9')).status).toBe(200)
  await closed
  clearInterval(dribble)
}, 600_000)
