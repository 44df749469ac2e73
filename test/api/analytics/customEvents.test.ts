import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { eventOf, openEvents, organizationId, projectId, type Row } from '../events/harness.ts'

/** Custom events by name and property, and revenue of goals. */
let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const minuteMs = 60_000
const [ada, ben, eve] = [randomUUID(), randomUUID(), randomUUID()]
const custom = (name: string, properties: object) => ({
  event_type: 'custom',
  event_data: JSON.stringify({ name, properties }),
})

beforeAll(async () => {
  events = await openEvents()
  const { postgres } = events
  await storeOrganization(postgres, organizationId)
  await storeProject(postgres, projectId, organizationId)
  const search = { referrer_url: 'https://www.google.com/' }
  await events.insertHits([
    eventOf(now, 9 * minuteMs, { cookie_id: ada, ...search }),
    eventOf(now, 8 * minuteMs, {
      cookie_id: ada,
      ...custom('Purchase', { total: 0.1, plan: 'pro' }),
    }),
    eventOf(now, 7 * minuteMs, {
      cookie_id: ada,
      ...custom('Purchase', { total: 0.2, plan: 'pro' }),
    }),
    eventOf(now, 6 * minuteMs, {
      cookie_id: ben,
      ...custom('Purchase', { total: '19.99', plan: 'free' }),
    }),
    eventOf(now, 5 * minuteMs, { cookie_id: ben, ...custom('Purchase', { total: 'unknown' }) }),
    eventOf(now, 4 * minuteMs, { cookie_id: eve, ...custom('Signup', { total: 5, plan: 3 }) }),
  ])
})
afterAll(() => events.close())

const get = (path: string, query: Record<string, string> = {}) =>
  events.app.inject({
    url: `/api/v1/analytics/${path}?${new URLSearchParams({ project_id: projectId, ...query })}`,
  })
const put = (goals: Row[]) =>
  events.app.inject({
    method: 'PUT',
    url: '/api/v1/analytics/goals',
    payload: { project_id: projectId, goals },
  })
const breakdown = async (dimension: string, query: Record<string, string> = {}) => {
  const answer = await get('breakdown', { dimensions: dimension, ...query })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().breakdowns[dimension].values
}

test('a breakdown is by the name of custom events, and by any of their properties', async () => {
  expect(
    (await breakdown('event_data.name', { filter: 'event_type:eq:custom' })).map(
      ({ value, events, visitors }: Row) => [value, events, visitors],
    ),
  ).toEqual([
    ['Purchase', 4, 2],
    ['Signup', 1, 1],
  ])
  const plans = await breakdown('event_data.properties.plan', {
    filter: 'event_data.name:eq:Purchase',
  })
  expect(new Map(plans.map(({ value, events }: Row) => [value, events]))).toEqual(
    new Map([
      ['pro', 2],
      ['free', 1],
      [null, 1],
    ]),
  )
})

test('a value of a breakdown finds its events as a filter', async () => {
  for (const { value, events } of await breakdown('event_data.properties.plan')) {
    if (value === null) continue
    const { overview } = (
      await get('overview', { filter: `event_data.properties.plan:eq:${value}` })
    ).json()
    expect([value, overview.events]).toEqual([value, events])
  }
})

test('a name may hold any character that a filter takes', async () => {
  expect(await breakdown("event_data.it's\\n{p1}")).toMatchObject([{ value: null }])
})

test.each(['event_data', 'event_data.', 'event_data.a..b', 'event_date.a', 'page_path.a'])(
  'the dimension %s is refused and named',
  async (dimensions) => {
    const answer = await get('breakdown', { dimensions })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'dimensions' })
  },
)

const purchase = {
  name: 'Purchase',
  filter: 'event_data.name:eq:Purchase',
  value: { property: 'event_data.properties.total', currency: 'EUR' },
}

test('a goal with a value has revenue, to the cent, in total and by source', async () => {
  expect(
    (await put([purchase, { name: 'Signup', filter: 'event_data.name:eq:Signup' }])).json(),
  ).toMatchObject({ goals: [purchase, { name: 'Signup' }] })
  const { conversions } = (await get('conversions')).json()
  expect(conversions.map(({ name, events, revenue }: Row) => [name, events, revenue])).toEqual([
    ['Purchase', 4, { value: 20.29, currency: 'EUR' }],
    ['Signup', 1, null],
  ])
  expect(conversions.map(({ missing_values }: Row) => missing_values)).toEqual([
    { property: purchase.value.property, events: 1 },
    null,
  ])
  for (const dimension of ['source', 'event_type'])
    expect(
      new Map(
        (await breakdown(dimension, { goal: 'Purchase' })).map(({ value, goal }: Row) => [
          value,
          (goal as Row).revenue,
        ]),
      ),
    ).toEqual(
      dimension === 'source'
        ? new Map([
            ['Google', { value: 0.3, currency: 'EUR' }],
            ['Direct', { value: 19.99, currency: 'EUR' }],
          ])
        : new Map([
            ['page_view', { value: 0.3, currency: 'EUR' }],
            ['custom', { value: 20.29, currency: 'EUR' }],
          ]),
    )
})

test('an event of several goals with the same value is in the total revenue once, in each currency', async () => {
  const inDollars = { ...purchase.value, currency: 'USD' }
  const goals = [
    purchase,
    { ...purchase, name: 'Ordered' },
    { ...purchase, name: 'In dollars', value: inDollars },
  ]
  expect((await put(goals)).statusCode).toBe(200)
  const { conversions, converted } = (await get('conversions')).json()
  const sums = conversions.map(({ revenue }: Row) => revenue)
  expect(sums[1]).toEqual(sums[0])
  expect(converted.revenue).toEqual([sums[0], sums[2]])
})

test.each([
  [{ property: 'total', currency: 'EUR' }, 'goals[0].value.property'],
  [{ property: 'event_data', currency: 'EUR' }, 'goals[0].value.property'],
  [{ property: 'event_data.total', currency: 'euro' }, 'goals[0].value.currency'],
  [{ property: 'event_data.total' }, 'goals[0].value.currency'],
])('the value %j is refused and named', async (value, parameter) => {
  const answer = await put([{ ...purchase, value }])
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
})
