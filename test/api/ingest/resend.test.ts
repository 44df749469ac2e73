/** Rejected events that are corrected and sent again. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Caller, openAccounts } from '../accounts/harness.ts'

let it: Accounts
let pixel_id: string
let project_id: string
const path = '/api/v1/rejected_events/resend'
beforeAll(async () => {
  it = await openAccounts()
  project_id = await it.makeProject('A shop with wrong events')
  pixel_id = await it.makePixel(project_id)
  await waitFor('the pixel', async () => (await postBeacon(it.url, beacon([]))).ok)
})
afterAll(() => it.close())

const beacon = (events: unknown[], more: object = {}) =>
  beaconOf(it.service, events, { pixel_id, ...more })

test('a corrected event is accepted once, with its browser, and the log says who sent it', async () => {
  const event = customEvent()
  const cookie_id = randomUUID()
  const sent = await postBeacon(
    it.url,
    beacon([{ ...event, event_data: { name: 7 } }], { cookie_id }),
  )
  expect((await sent.json()).rejected).toHaveLength(1)
  const found = await waitFor('the rejected event', async () => {
    const { body } = await it.ask(it.key, `GET /api/v1/rejected_events?project_id=${project_id}`)
    return body.rejected_events.find((one: { event_id: string }) => one.event_id === event.event_id)
  })
  expect(found).toMatchObject({ cookie_id, pixel_id })

  const resend = (events: unknown[], more: object = {}) =>
    it.ask(it.key, `POST ${path}`, {
      project_id,
      pixel_id,
      cookie_id: found.cookie_id,
      events,
      ...more,
    })
  expect(await resend([{ ...event, event_data: { name: 8 } }])).toMatchObject({
    status: 200,
    body: { accepted: 0, rejected: [{ index: 0, event_id: event.event_id }] },
  })
  for (let times = 0; times < 2; times++)
    expect(await resend([event])).toMatchObject({
      status: 200,
      body: { accepted: 1, rejected: [] },
    })
  const stored = await waitFor('the event', async () => {
    const query = `project_id=${project_id}&select=event_id,cookie_id`
    const { body } = await it.ask(it.key, `GET /api/v3/events/web_event?${query}`)
    return body.rows.length > 0 ? body.rows : null
  })
  expect(stored).toEqual([{ event_id: event.event_id, cookie_id }])
  const { body: log } = await it.ask(it.owner, 'GET /dashboard/audit')
  expect(JSON.stringify(log)).toContain('rejected_events.resend')

  expect((await resend([event], { project_id: it.service.demo.project_id })).status).toBe(404)
})

test('rejected events are free up to 1,000 a day, then charged like events; reasons stay free', async () => {
  const own = await it.makeProject('Many wrong events')
  const pixelOfOwn = await it.makePixel(own)
  const wrong = (n: number) => ({ event_id: `wrong-${n}`, event_data: { note: 'x'.repeat(20) } })
  const sendSome = (from: number) =>
    postBeacon(
      it.url,
      beacon(
        Array.from({ length: 400 }, (_, n) => wrong(from + n)),
        { pixel_id: pixelOfOwn },
      ),
      // Of a sender without a key, few are stored.
      it.key,
    )
  await waitFor('the pixel', async () => (await sendSome(0)).ok)
  for (const from of [400, 800]) expect((await sendSome(from)).status).toBe(200)
  const read = async (query: string, caller: Caller = it.key) => {
    const route = `GET /api/v1/rejected_events?pixel_id=${pixelOfOwn}&${query}`
    const { status, body } = await it.ask(caller, route)
    return { status, rows: body.rejected_events?.length, meta: body.meta, body }
  }
  const start = await waitFor('the rejected events', async () => {
    const answer = await read('content=false&limit=1000')
    return answer.rows === 1_000 ? answer : undefined
  })
  expect(start.body.rejected_events[0]).toMatchObject({ path: '/event_id', event: '' })
  // Other tests of this organization have read some.
  const left: number = start.meta.free_left
  expect(start.meta).toEqual({ meter: 'events', records: 0, charged: 0, free_left: left })
  expect((await read('event_id=wrong-7&content=false')).rows).toBe(1)
  const free = start.body.rejected_events
  expect(free.filter((one: { event_id: unknown }) => one.event_id !== null)).toEqual([])

  const first = await read('limit=700')
  expect(first.meta).toMatchObject({ records: 700, charged: 0, free_left: left - 700 })
  const second = await read('limit=700')
  expect(second.meta).toMatchObject({ records: 700, charged: 1_400 - left, free_left: 0 })
  const repeated = { ...it.key, 'idempotency-key': randomUUID() }
  expect((await read('limit=10', repeated)).meta).toMatchObject({ charged: 10 })
  expect((await read('limit=10', repeated)).meta).toMatchObject({ charged: 0 })
  expect((await read('content=false&limit=1000')).meta).toMatchObject({ charged: 0, records: 0 })
  expect((await read('limit=10', it.testKey)).meta).toMatchObject({ charged: 0 })

  const limits = [{ meter: 'events', daily_records: 1, monthly_records: null }]
  await it.done(it.key, 'PUT /api/v1/billing/limits', { budgets: [], limits })
  expect((await read('limit=10')).status).toBe(429)
  expect((await read('limit=10&content=false')).status).toBe(200)
  await it.done(it.key, 'PUT /api/v1/billing/limits', { budgets: [], limits: [] })
})

test('what is free of rejected events has no text of the sender: no ids, types and names of its own', async () => {
  const own = await it.makeProject('Secret names')
  const pixelOfOwn = await it.makePixel(own)
  const known = customEvent()
  const withNames = customEvent()
  const events = [
    { ...known, event_data: { ...known.event_data, name: 7 } },
    { ...withNames, event_data: { ...withNames.event_data, secret: { a1: 0, text: 'INFINITE' } } },
    { ...customEvent(), event_id: 'secret id' },
    { ...customEvent(), event_type: 'secret type' },
  ]
  const body = JSON.stringify(beacon(events, { pixel_id: pixelOfOwn }))
  const send = () => postBeacon(it.url, body.replace('"INFINITE"', '1e999'))
  await waitFor('the pixel', async () => (await send()).ok)
  const read = async (content: boolean) =>
    (
      await it.done(
        it.key,
        `GET /api/v1/rejected_events?pixel_id=${pixelOfOwn}&content=${content}&limit=100`,
      )
    ).rejected_events
  const charged = await waitFor('the rejected events', async () => {
    const rows = await read(true)
    return rows.length >= events.length && rows
  })
  for (const text of ['/event_data/secret/text', 'secret id', 'secret type'])
    expect(JSON.stringify(charged)).toContain(text)

  const free = await read(false)
  expect(JSON.stringify(free)).not.toContain('secret')
  const find = (id: string) => free.find((one: { event_id: string }) => one.event_id === id)
  expect(find(known.event_id)).toMatchObject({ event_type: 'custom', path: '/event_data/name' })
  expect(find(withNames.event_id)).toMatchObject({ path: '/event_data/*' })
  const traced = async (id: string) =>
    (await it.done(it.key, `GET /api/v1/events/${encodeURIComponent(id)}/trace`)).rejections[0]
  expect(await traced(known.event_id)).toMatchObject({ path: '/event_data/name' })
  expect(await traced(withNames.event_id)).toMatchObject({ path: '/event_data/*' })
  expect(await traced(events[3]!.event_id)).toMatchObject({ event_type: null, path: '/event_type' })
})
