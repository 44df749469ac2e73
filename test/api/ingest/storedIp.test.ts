import { afterAll, beforeAll, expect, test } from 'vitest'
import { beaconOf, chrome, customEvent, postBeacon } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, openAccounts } from '../accounts/harness.ts'

let it: Accounts
let projectId: string
beforeAll(async () => {
  it = await openAccounts()
  projectId = await it.makeProject('A shop that limits addresses')
})
afterAll(() => it.close())

const gpc = { 'sec-gpc': '1' }

test.each([
  ['by default', undefined, {}, {}, '81.2.69.0'],
  ['truncated', 'truncated', {}, {}, '81.2.69.0'],
  ['full', 'full', {}, {}, '81.2.69.142'],
  ['full without consent', 'full', { consent: false }, {}, '81.2.69.0'],
  ['full with Global Privacy Control', 'full', {}, gpc, '81.2.69.0'],
  ['none', 'none', {}, {}, null],
  ['none without consent', 'none', { consent: false }, {}, null],
])('%s: the address is stored as set, and the country is detected', async (...given) => {
  const [, ip, more, headers, client_ip] = given
  const pixel_id = await it.makePixel(projectId, ip ? { settings: { ip } } : {})
  const event = customEvent()
  const body = beaconOf(it.service, [event], {
    pixel_id,
    client_ip: '81.2.69.142',
    user_agent: chrome,
    ...more,
  })
  await waitFor(
    'the pixel',
    async () => (await postBeacon(it.url, body, { ...it.key, ...headers })).ok,
  )
  const row = await waitFor('the event', async () => {
    const query = `pixel_id=${pixel_id}&filter=event_id:eq:${event.event_id}`
    return (await it.done(it.key, `GET /api/v3/events/web_event?${query}`)).rows[0]
  })
  expect(row).toMatchObject({ client_ip, country: 'GB', is_bot: false })
})
