import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { beaconOf, customEvent, postBeacon, receiptOf } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Json, openAccounts } from '../accounts/harness.ts'

let it: Accounts
let graph: ReturnType<typeof openClickHouse>
beforeAll(async () => {
  it = await openAccounts({
    env: { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1', FOOTFALL_IDENTIFIES_PER_IP: '20' },
  })
  graph = openClickHouse(inject('clickhouseUrl'), it.clickhouseDatabase)
})
afterAll(async () => {
  await graph.close()
  await it.close()
})

const secretsOf = async (pixel: string): Promise<string[]> =>
  secretsIn(await it.done(it.key, `GET /api/v1/pixel/identify-secrets/${pixel}`))
const secretsIn = ({ secrets }: Json): string[] => secrets.map(({ secret }: Json) => secret)
const sign = (hem: string, secret: string) => createHmac('sha256', secret).update(hem).digest('hex')
const anybody = () => hemOf(`${randomUUID()}@example.com`)

/** A pixel that takes beacons, with its secret. */
async function openPixel(settings: object = {}) {
  const pixel_id = await it.makePixel(it.demo.project_id, { settings })
  const send = async (more: object, events: unknown[] = [customEvent()], ip = '203.0.113.1') => {
    const beacon = beaconOf(it.service, events, { pixel_id, cookie_id: randomUUID(), ...more })
    const answer = await postBeacon(it.url, beacon, { 'x-forwarded-for': ip })
    return { status: answer.status, receipt: await receiptOf(answer) }
  }
  await waitFor('the pixel', async () => (await send({})).status === 200)
  return { pixel_id, send, secret: (await secretsOf(pixel_id))[0]! }
}

/** Whom the cookie's events say it is, each once. */
const hemsOf = async (cookie_id: string) => {
  const query = `filter=cookie_id:eq:${cookie_id}&select=hem`
  const { rows } = await it.done(it.key, `GET /api/v3/events/resolution_hem?${query}`)
  return [...new Set(rows.map(({ hem }: Json) => hem))]
}
const resolvesTo = (cookie_id: string, hem: string | null) =>
  waitFor(`${hem} for the cookie`, async () => String(await hemsOf(cookie_id)) === String(hem))

const identify = (more: object) => ({
  type: 'identify',
  id: Math.random(),
  url: 'https://shop.example/',
  at: Date.now(),
  referrer: '',
  ...more,
})

const lastRejection = (pixel_id: string, hem: string) =>
  waitFor('the rejection', async () => {
    const { rejected_events } = await it.done(
      it.key,
      `GET /api/v1/rejected_events?pixel_id=${pixel_id}`,
    )
    return rejected_events.find(({ event }: Json) => JSON.stringify(event).includes(hem))
  })

test('who knows a cookie’s id can no longer say whose it is where the operator’s graph does; its server can', async () => {
  const { send, secret } = await openPixel()
  const [cookie_id, known, forged, signed] = [randomUUID(), anybody(), anybody(), anybody()]
  await graph.command({
    sql: `INSERT INTO identity_links (organization_id, cookie_id, hem, source, confidence, observed_at)
          VALUES (toUUID('00000000-0000-0000-0000-000000000000'), {cookie_id:UUID}, {known:String}, 'loaded', 0.5, now())`,
    params: { cookie_id, known },
  })
  await reloadIdentity(graph)
  await send({ cookie_id })
  await resolvesTo(cookie_id, known)

  const { receipt } = await send({ cookie_id, hem: forged })
  expect(receipt).toEqual({ cookie_id, accepted: 1, rejected: [] })
  // It is stored, and a cookie that the graph does not know is linked by such a one.
  const other = randomUUID()
  await send({ cookie_id: other, hem: forged })
  await resolvesTo(other, forged)
  expect(await hemsOf(cookie_id)).toEqual([known])

  await send({ cookie_id, hem: signed, hem_signature: sign(signed, secret) })
  await resolvesTo(cookie_id, signed)
  await send({ cookie_id, hem: forged })
  await send({ cookie_id: other, hem: signed, hem_signature: sign(signed, secret).toUpperCase() })
  await resolvesTo(other, signed)
  expect(await hemsOf(cookie_id)).toEqual([signed])
})

test('a wrong signature is refused with a reason, whatever it is wrong by; the events count', async () => {
  const { pixel_id, send, secret } = await openPixel()
  const another = await openPixel()
  expect(another.secret).not.toBe(secret)
  const [hem, other] = [anybody(), anybody()]
  const wrong = {
    'made up': 'f'.repeat(64),
    'of another hem': sign(other, secret),
    'of another pixel': sign(hem, another.secret),
    'of the bytes that the secret spells': createHmac('sha256', Buffer.from(secret, 'hex'))
      .update(hem)
      .digest('hex'),
    short: sign(hem, secret).slice(2),
    empty: '',
    'no text': 5,
  }
  const fault = { path: '/hem_signature', message: expect.stringContaining('HMAC-SHA256') }
  for (const [name, hem_signature] of Object.entries(wrong)) {
    const cookie_id = randomUUID()
    const { status, receipt } = await send({ cookie_id, hem, hem_signature })
    expect([name, status, receipt]).toEqual([
      name,
      200,
      { cookie_id, accepted: 1, rejected: [], hem_rejected: fault },
    ])
    const noted = await send({ cookie_id }, [identify({ hem, hem_signature }), customEvent()])
    expect(noted.receipt).toMatchObject({ accepted: 1, rejected: [{ index: 0, ...fault }] })
    await waitFor('the events', async () => (await hemsOf(cookie_id)).length > 0)
    expect(await hemsOf(cookie_id)).toEqual([null])
  }
  expect(await lastRejection(pixel_id, hem)).toMatchObject({ path: '/hem_signature', pixel_id })
})

test('a pixel that requires a signature refuses identifies and forms without one, and takes the signed', async () => {
  const { pixel_id, send, secret } = await openPixel({ require_signed_identify: true })
  const hem = anybody()
  const fault = {
    path: '/hem_signature',
    message: expect.stringContaining('only signed identify calls'),
  }
  for (const more of [{}, { hem_source: 'form' }, { hem_signature: null }]) {
    const cookie_id = randomUUID()
    expect((await send({ cookie_id, hem, ...more })).receipt).toEqual({
      cookie_id,
      accepted: 1,
      rejected: [],
      hem_rejected: fault,
    })
    const noted = await send({ cookie_id }, [customEvent(), identify({ hem, ...more })])
    expect(noted.receipt).toMatchObject({ accepted: 1, rejected: [{ index: 1, ...fault }] })
  }
  expect(await lastRejection(pixel_id, hem)).toMatchObject(fault)
  const cookie_id = randomUUID()
  const signed = identify({ hem, hem_signature: sign(hem, secret) })
  const { receipt } = await send({ cookie_id }, [signed, customEvent()])
  expect(receipt).toEqual({ cookie_id, accepted: 2, rejected: [] })
  await resolvesTo(cookie_id, hem)
})

test('while the secret is rotated the old one is valid, too, until it is retired; others never', async () => {
  const { pixel_id, send, secret: old } = await openPixel({ require_signed_identify: true })
  const change = (how: string) =>
    it.ask(it.key, `POST /api/v1/pixel/identify-secrets/${how}`, { pixel_id })
  const isTaken = async (secret: string) => {
    const hem = anybody()
    const { receipt } = await send({ hem, hem_signature: sign(hem, secret) })
    return receipt.hem_rejected === undefined
  }
  expect(await isTaken(old)).toBe(true)
  const { status, body } = await change('rotate')
  expect(status).toBe(200)
  expect(body.secrets.map(({ version }: Json) => version)).toEqual([2, 1])
  const [next] = secretsIn(body)
  expect(secretsIn(body)).toEqual([next, old])
  await waitFor('the new secret', () => isTaken(next!))
  expect(await isTaken(old)).toBe(true)
  expect(await change('rotate')).toMatchObject({ status: 409, body: { error: 'conflict' } })

  expect(secretsIn((await change('retire')).body)).toEqual([next])
  await waitFor('the old secret’s end', async () => !(await isTaken(old)))
  expect(await isTaken(next!)).toBe(true)
  expect(await secretsOf(pixel_id)).toEqual([next])
  expect((await change('retire')).status).toBe(200)

  const { entries } = await it.done(it.owner, 'GET /dashboard/audit')
  const noted = entries.filter(({ object_id }: Json) => object_id === pixel_id)
  expect(noted.map(({ action }: Json) => action).slice(0, 2)).toEqual([
    'pixel.identify_secret.retire',
    'pixel.identify_secret.rotate',
  ])
  expect(JSON.stringify(noted)).not.toMatch(/[0-9a-f]{64}/)
})

test('of one network so many unsigned identifies a minute are taken; signed ones and events always', async () => {
  const { send, secret } = await openPixel()
  let n = 0
  const sendFrom = (ip: () => string, more = {}) =>
    Promise.all(
      Array.from({ length: 40 }, () => send({ hem: anybody(), ...more }, undefined, ip())),
    )
  const refused = (sent: Awaited<ReturnType<typeof send>>[]) =>
    sent.filter(({ receipt }) => receipt.hem_rejected?.path === '/hem').length
  const flood = await sendFrom(() => '203.0.113.77')
  expect(flood.every(({ status, receipt }) => status === 200 && receipt.accepted === 1)).toBe(true)
  expect(refused(flood)).toBe(20)
  expect(refused(await sendFrom(() => `2001:db8:0:9::${(++n).toString(16)}`))).toBe(20)
  expect(refused(await sendFrom(randomIp))).toBe(0)
  const hem = anybody()
  expect(
    refused(await sendFrom(() => '203.0.113.77', { hem, hem_signature: sign(hem, secret) })),
  ).toBe(0)
})

let hosts = 0
const randomIp = () => `198.51.100.${++hosts % 250}`
