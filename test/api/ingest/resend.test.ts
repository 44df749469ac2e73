/** Rejected events that are corrected and sent again. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, openAccounts } from '../accounts/harness.ts'

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
