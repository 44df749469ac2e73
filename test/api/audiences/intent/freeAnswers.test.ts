/** Previews and figures by day: free, and never what is sold. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rateLimits } from '../../../../collector/api/access/rateLimits.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { seededRandom } from '../../../../collector/platform/seededRandom.ts'
import { companyFields, profileFields } from '../../../../schemas/fields.ts'
import { dateAgo, makeWorld, openIntent, topics } from './harness.ts'
import { companiesWith, peopleWith } from './naive.ts'

const { people, signals } = makeWorld(31)
let intent: Awaited<ReturnType<typeof openIntent>>

/** What no free answer may hold: made up for every text field of every profile. */
const secrets: string[] = []
const random = seededRandom(5)
const texts = profileFields.filter(({ dataType, values }) => dataType === 'Utf8' && !values)

/** An address, or a text with one in it, as operators' data may have. */
function secretText(): string {
  const word = random.uuid().slice(0, 8)
  const address = random.pick([
    `${word}@mail.example`,
    `${word.toUpperCase()}@Mail.Example`,
    `https://www.linkedin.com/in/${word}`,
    `LinkedIn.com/in/${word}`,
  ])
  secrets.push(word.toLowerCase())
  return random.pick([address, `write to ${address}`, `<${address}>, or call`, `a\n${address}\tb`])
}

beforeAll(async () => {
  intent = await openIntent()
  for (const [index, person] of people.entries()) {
    const own = texts.filter(({ name }) => name !== 'company_domain' && name !== 'pte_person_id')
    const more = Object.fromEntries(own.map(({ name }) => [name, secretText()]))
    await intent.knowPeople([person], { ...more, pte_person_id: `person ${index}` })
  }
  const companies = ['alder.example', 'birch.example', 'dune.example'].map((company_domain) => ({
    company_domain,
    ...Object.fromEntries(
      companyFields
        .filter(
          ({ name, dataType, values }) =>
            name !== 'company_domain' && dataType === 'Utf8' && !values,
        )
        .map(({ name }) => [name, secretText()]),
    ),
  }))
  await intent.clickhouse.live.feed(
    { sql: 'INSERT INTO companies FORMAT JSONEachRow', params: {} },
    Buffer.from(companies.map((company) => JSON.stringify(company)).join('\n')),
  )
  await intent.signal(signals)
})
afterAll(() => intent.close())

const paths = ['people', 'companies'].flatMap((entity) => [
  [`${entity}/preview`, { topic: topics[0] }] as const,
  [`${entity}/multi/preview`, { topics }] as const,
])

test.each(paths)('%s shows no address, in whichever field it stands', async (path, asked) => {
  const selectable = path.startsWith('people') ? profileFields : companyFields
  for (let index = 0; index < 8; index++) {
    const some = selectable.filter(() => random.chance(0.4)).map(({ name }) => name)
    const answer = await intent.post(path, {
      ...asked,
      intent_window_days: random.integer(30, 365),
      ...(index > 0 && some.length > 0 && { select: some.join() }),
    })
    expect(answer.statusCode).toBe(200)
    const { results } = answer.json()
    expect(results.length).toBeGreaterThan(0)
    expect(results.length).toBeLessThanOrEqual(25)
    const told = answer.body.toLowerCase()
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([])
    expect(told).not.toMatch(/@|linkedin\.com/)
    for (const { emails } of people) {
      for (const email of emails) expect(told).not.toContain(hemOf(email))
    }
  }
})

test('previews count all, cap their records at 25 whatever limit asks for, and cost nothing', async () => {
  const all = { topics, intent_window_days: 365 }
  for (const limit of [1, 25, 26, 1_000]) {
    const { results, count, total } = await intent.ask('people/multi/preview', { ...all, limit })
    expect(total).toBe(count)
    expect(results.length).toBe(Math.min(limit, 25))
    expect(count).toBe(
      peopleWith(people, signals).filter(({ signals }) => signals.length > 0).length,
    )
  }
  const { count } = await intent.ask('companies/multi/preview', all)
  expect(count).toBe(companiesWith(people, signals).length)
  const dry = await intent.ask('people/multi/preview', { ...all, dry_run: true })
  expect(dry).toEqual({ dry_run: true, meter: 'intent', records_to_charge: 0, exact: true })
  expect((await intent.ask('people/preview', { topic: 'esports' })).count).toBe(0)
  expect(await intent.charged()).toEqual({})
})

test('all routes of intent share 10 requests a second, of which previews have 5', () => {
  const limits = intent.app.guardedRoutes
    .filter(({ url }) => /\/api\/v1\/(intent|stats\/tables\/intent)/.test(url))
    .map(({ url, config }) => [url, (config!.access as { limit: string }).limit])
  expect(new Set(limits.map(([url]) => url)).size).toBe(12)
  for (const [url, limit] of limits) {
    expect([url, rateLimits[limit as 'intent']]).toEqual([
      url,
      url!.endsWith('/preview')
        ? ['caller', 'intent', 'intent_preview', 'organization']
        : ['caller', 'intent', 'organization'],
    ])
  }
})

test('previews take no cursor and no filter that names somebody', async () => {
  expect((await intent.post('people/preview', { topic: topics[0], cursor: 'x' })).statusCode).toBe(
    400,
  )
  const answer = await intent.post('people/preview', { topic: topics[0], filter: 'email:like:a%' })
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'filter' })
})

const stats = (name: string, query: Record<string, string> = {}) =>
  intent.app.inject(`/api/v1/stats/tables/${name}?${new URLSearchParams(query)}`)

test('figures by day, and by day and topic, are those of the signals', async () => {
  const distinct = [
    ...new Map(
      signals.map((one) => [
        JSON.stringify([one.topic, one.email, one.company_domain, one.daysAgo, one.source]),
        one,
      ]),
    ).values(),
  ]
  const personOf = (email: string) => people.findIndex(({ emails }) => emails.includes(email))
  const figuresOf = (some: typeof signals) => ({
    signals: some.length,
    people: new Set(some.flatMap(({ email }) => (email ? [personOf(email)] : []))).size,
    companies: new Set(some.flatMap(({ company_domain }) => company_domain ?? [])).size,
  })
  const days = Array.from({ length: 30 }, (_, index) => 29 - index)
  const ofDay = (daysAgo: number) => distinct.filter((one) => one.daysAgo === daysAgo)
  expect((await stats('intent-daily-stats')).json().rows).toEqual(
    days.flatMap((day) => {
      const some = ofDay(day)
      if (some.length === 0) return []
      const topics = new Set(some.map(({ topic }) => topic)).size
      return { date: dateAgo(day), ...figuresOf(some), topics }
    }),
  )
  const query = { start_date: dateAgo(9), end_date: dateAgo(3) }
  expect((await stats('intent-daily-per-topic-stats', query)).json().rows).toEqual(
    [9, 8, 7, 6, 5, 4, 3].flatMap((day) =>
      topics.toSorted().flatMap((topic) => {
        const some = ofDay(day).filter((one) => one.topic === topic)
        return some.length === 0 ? [] : { date: dateAgo(day), topic, ...figuresOf(some) }
      }),
    ),
  )
  const wine = (await stats('intent-daily-per-topic-stats', { ...query, topic: 'wine' })).json()
    .rows
  expect(new Set(wine.map(({ topic }: { topic: string }) => topic))).toEqual(new Set(['wine']))
  expect(await intent.charged()).toEqual({})
})

test.each([
  ['intent-daily-stats', { start_date: '2026-02-30' }, 'start_date'],
  ['intent-daily-stats', { start_date: '2026-01-02', end_date: '2026-01-01' }, 'start_date'],
  ['intent-daily-stats', { start_date: '2020-01-01', end_date: '2026-01-01' }, 'start_date'],
  [
    'intent-daily-per-topic-stats',
    { start_date: '2026-01-01', end_date: '2026-03-01' },
    'start_date',
  ],
  ['intent-daily-per-topic-stats', { topic: 'nonsense' }, 'topic'],
  ['intent-daily-stats', { end_date: 'x' }, 'end_date'],
])('%s with %j is 400', async (name, query, parameter) => {
  const answer = await stats(name, query)
  expect({ status: answer.statusCode, parameter: answer.json().parameter }).toEqual({
    status: 400,
    parameter,
  })
})
