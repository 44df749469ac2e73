import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveRefs } from '../../harness/openapi.ts'
import { eventOf, linkOf, openEvents } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const hourMs = 3_600_000
const hem = 'ab'.repeat(32)
const bareHem = 'cd'.repeat(32)
const big = '{"n":9007199254740993,"larger":18446744073709551615}'

beforeAll(async () => {
  events = await openEvents()
  const known = eventOf(now, 1000, { event_type: 'click', event_data: big })
  const bare = eventOf(now, 5000)
  await events.insert([
    known,
    bare,
    eventOf(now, 2000, { event_type: 'copy' }),
    ...[3, 2, 1].flatMap((hours) =>
      Array.from({ length: hours === 2 ? 3 : 1 }, (_, index) =>
        eventOf(now, hours * hourMs + index),
      ),
    ),
  ])
  await events.know({
    links: [linkOf(known.cookie_id, hem), linkOf(bare.cookie_id, bareHem)],
    profiles: [{ hem, first_name: 'Ada', business_email: 'ada@firm.example' }],
  })
})
afterAll(() => events.close())

test('select=hem alone is answered by lookup, batch and contact query', async () => {
  const lookup = await events.app.inject({ url: `/api/v1/lookup?hem=${hem}&select=hem` })
  expect(lookup.json()).toEqual({
    matched: true,
    person: { hem },
    meta: { meter: 'lookup', records: 1, charged: 1 },
  })
  const post = (url: string, payload: object) => events.app.inject({ method: 'POST', url, payload })
  const batch = await post('/api/v1/lookup/batch', { items: [{ hem }], select: 'hem' })
  expect(batch.json()).toMatchObject({ matched: 1, results: [{ person: { hem } }] })
  const contacts = await post('/api/v1/contact/query', {
    filter: 'first_name:in:Ada|Eve',
    select: 'hem',
  })
  expect(contacts.json()).toMatchObject({ count: 1, results: [{ hem }] })
})

test('select takes blanks around its commas', async () => {
  const page = await events.page({ select: ' event_type , page_path ' }, {}, 'web_event')
  expect(page.rows.map(Object.keys)).toEqual(page.rows.map(() => ['event_type', 'page_path']))
  expect(page.rows.length).toBeGreaterThan(0)
})

test('has_profile finds visitors of whom more than the hem is known, where that is paid for', async () => {
  const known = async (filter: string) =>
    (await events.page({ filter, select: 'event_type,hem' }, {}, 'resolution_hem')).rows
  expect(await known('has_profile:eq:true')).toEqual([{ event_type: 'click', hem }])
  const all = (await events.page()).rows.length
  expect(await known('has_profile:eq:false')).toHaveLength(all - 1)
  expect(await known('has_profile:ne:true')).toHaveLength(all - 1)
  expect(await known('has_profile:eq:false,resolved:eq:true')).toEqual([
    { event_type: 'page_view', hem: bareHem },
  ])
  for (const free of ['events/web_event', 'events/web_event/counts']) {
    const refused = await events.get(free, { filter: 'has_profile:eq:true' })
    expect(refused.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'filter' })
  }
})

test('the schema of a row says which members are always there', async () => {
  const description = resolveRefs((await events.app.inject('/openapi.json')).json())
  const answer = description.paths['/api/v3/events/resolution_full_profile'].get.responses['200']
  const [whole] = answer.content['application/json'].schema.properties.rows.items.anyOf
  const { rows } = await events.page({}, {}, 'resolution_full_profile')
  expect(rows.length).toBeGreaterThan(1)
  const always = Object.keys(rows[0]!).filter((name) => rows.every((row) => name in row))
  expect(whole.required.toSorted()).toEqual(always.toSorted())
})

test('in finds any of several values, of columns, ids and the payload', async () => {
  const typesOf = async (filter: string) =>
    (await events.page({ filter })).rows.map((row) => row.event_type)
  expect(await typesOf('event_type:in:click|copy')).toEqual(['click', 'copy'])
  const { rows } = await events.page({ limit: '2' })
  expect(await typesOf(`event_id:in:${rows.map((row) => row.event_id).join('|')}`)).toEqual([
    'click',
    'copy',
  ])
  expect(await typesOf('event_data.n:in:1|9007199254740993')).toEqual(['click'])
})

test('a value that a field never holds is 400 with the values there are', async () => {
  const answer = await events.get('events/web_event', { filter: 'event_type:eq:clik' })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({
    error: 'invalid_parameter',
    parameter: 'filter',
    message: expect.stringContaining('page_view, click, scroll_depth, copy'),
  })
})

test('integers beyond 2^53 come back with their digits in every format, and are found by them', async () => {
  for (const accept of ['application/json', 'application/x-ndjson', 'text/csv']) {
    const query = { filter: 'event_data.larger:eq:18446744073709551615', select: 'event_data' }
    const { body } = await events.get('events/web_event', query, { accept })
    expect(body.replaceAll(/[\\"]+/g, '')).toContain(
      '{n:9007199254740993,larger:18446744073709551615}',
    )
  }
})

test('counts by hour stand in the order of time', async () => {
  const answer = await events.get('events/web_event/counts', { group_by: 'hour,event_type' })
  const hours = answer.json<{ counts: { hour: string }[] }>().counts.map(({ hour }) => hour)
  expect(hours.length).toBeGreaterThan(3)
  expect(hours).toEqual(hours.toSorted())
})
