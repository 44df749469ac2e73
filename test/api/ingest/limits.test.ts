import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon } from '../../harness/api.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
beforeAll(async () => {
  // Few, because a busy machine takes many seconds for all that a test sends.
  const env = { FOOTFALL_BEACONS_PER_IP: '2', FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' }
  service = (await openTenant({ env })).service
})
afterAll(() => service.stop())

const from = (ip: string) =>
  postBeacon(service.url, beaconOf(service, [customEvent()]), { 'x-forwarded-for': ip })

test('an address that floods gets 429 with Retry-After; others are not touched; a second later all is well', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => from('203.0.113.7')))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(20)
  expect(refused.length + answers.filter(({ ok }) => ok).length).toBe(60)
  expect(refused[0]!.headers.get('retry-after')).toBe('1')
  expect(await refused[0]!.json()).toMatchObject({ error: 'rate_limited' })
  expect((await from('203.0.113.8')).status).toBe(200)
  await waitFor('the next second', async () => (await from('203.0.113.7')).ok)
})

test('of IPv6 the addresses of one /64 count together', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => from(`2001:db8:0:1::${n.toString(16)}`)),
  )
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(20)
  expect((await from('2001:db8:0:2::1')).status).toBe(200)
})

test('an address that is told by nobody we trust is not believed', async () => {
  const { service: plain } = await openTenant({ env: { FOOTFALL_BEACONS_PER_IP: '1' } })
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      postBeacon(plain.url, beaconOf(plain, [customEvent()]), {
        'x-forwarded-for': `203.0.113.${n}`,
      }),
    ),
  )
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10)
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
