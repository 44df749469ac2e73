import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, readEvent } from '../../harness/api.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
let postgres: pg.Client
beforeAll(async () => {
  const tenant = await openTenant()
  service = tenant.service
  postgres = new pg.Client({ connectionString: tenant.env.DATABASE_URL! })
  await postgres.connect()
})
afterAll(async () => {
  await postgres.end()
  await service.stop()
})

const set = (column: string, value: unknown) =>
  postgres.query(`UPDATE pixels SET ${column} = $1 WHERE pixel_id = $2`, [
    value,
    service.demo.pixel_id,
  ])

const send = (headers: Record<string, string> = {}) =>
  postBeacon(service.url, beaconOf(service, [customEvent()]), headers)

const refusal = async (answer: Response) =>
  `${answer.status} ${((await answer.json()) as { error: string }).error}`

test('servers named by CLICKHOUSE_URL and DATABASE_URL are used', async () => {
  const event = customEvent()
  await postBeacon(service.url, beaconOf(service, [event]))
  await readEvent(service, event.event_id)
})

test('an inactive pixel takes nothing from the moment it is switched off, and says so', async () => {
  await set('active', false)
  const answer = await waitFor('the refusal', async () => {
    const tried = await send()
    return tried.ok ? null : tried
  })
  expect(await refusal(answer)).toBe('403 pixel inactive')
  const script = await fetch(`${service.url}/p/${service.demo.pixel_id}.js`)
  expect(await refusal(script)).toBe('403 pixel inactive')
  const read = await ask(service, `/api/v3/events/web_event?pixel_id=${service.demo.pixel_id}`)
  expect(await refusal(read)).toBe('403 pixel inactive')

  await set('active', true)
  await waitFor('the pixel to be back', async () => (await send()).ok)
})

test('a pixel with allowed origins takes events from those alone', async () => {
  await set('allowed_origins', ['https://shop.example'])
  await waitFor('the refusal', async () => !(await send()).ok)
  expect(await refusal(await send({ origin: 'https://evil.example' }))).toBe(
    '403 origin not allowed',
  )
  expect((await send({ origin: 'https://shop.example' })).status).toBe(200)
  await set('allowed_origins', [])
  await waitFor('any origin again', async () => (await send()).ok)
})

test('refused beacons that name a pixel are recorded with the reason, a few of each, and nothing of what they held', async () => {
  const { pixel_id } = service.demo
  await set('allowed_origins', ['https://shop.example'])
  await waitFor('the refusal', async () => !(await send()).ok)
  for (let i = 0; i < 30; i++) await send({ origin: 'https://evil.example' })
  const broken = await postBeacon(service.url, `{"pixel_id":"${pixel_id}","hem":"secret`)
  expect(broken.status).toBe(400)
  expect((await postBeacon(service.url, '{"pixel_id":"')).status).toBe(400)
  await set('active', false)
  await waitFor('the refusal', async () => (await refusal(await send())) === '403 pixel inactive')
  await set('active', true)
  const recorded = await waitFor('the refusals', async () => {
    const answer = await ask(service, '/api/v1/rejected_events?limit=1000')
    const { rejected_events } = (await answer.json()) as {
      rejected_events: Record<string, string>[]
    }
    const refusals = rejected_events.filter((row) => row.refusal)
    return new Set(refusals.map((row) => row.refusal)).size === 3 ? refusals : null
  })
  expect(JSON.stringify(recorded)).not.toContain('secret')
  const origins = recorded.filter((row) => row.refusal === 'origin not allowed')
  expect(origins.length).toBeLessThanOrEqual(2 * 6)
  expect(origins.some((row) => row.message!.includes('https://evil.example'))).toBe(true)
  expect(recorded.every((row) => row.pixel_id === pixel_id && row.event === '')).toBe(true)
  const activity = await ask(service, `/api/v1/pixel/activity/${pixel_id}`)
  expect(await activity.json()).toMatchObject({
    rejected_last_24h: 0,
    last_rejection: null,
    last_refusal: {
      at: expect.stringMatching(/Z$/),
      error: expect.any(String),
      message: expect.any(String),
    },
  })
  await set('allowed_origins', [])
  await waitFor('any origin again', async () => (await send()).ok)
})

test('a pixel that drops bots stores none of their events', async () => {
  await set('settings', JSON.stringify({ drop_bots: true }))
  const bot = { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
  await waitFor(
    'the setting',
    async () => ((await (await send(bot)).json()) as { accepted: number }).accepted === 0,
  )
  expect(((await (await send()).json()) as { accepted: number }).accepted).toBe(1)
})

test('changes are followed again after PostgreSQL closed the connection', async () => {
  await postgres.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await set('active', false)
  await waitFor('the refusal', async () => (await send()).status === 403)
  await set('active', true)
  await waitFor('the pixel to be back', async () => (await send()).ok)
})
