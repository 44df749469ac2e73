/** Free numbers and rows: previews, dry runs and figures by day. Numbers are exact, and rows are masked. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rateLimits } from '../../../../collector/api/access/rateLimits.ts'
import { countOwnEvents } from '../../../../collector/audiences/signals/ownEvents/countOwnEvents.ts'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { seededRandom } from '../../../../collector/platform/seededRandom.ts'
import { companyFields, profileFields } from '../../../../schemas/fields.ts'
import { eventOf, linkOf, organizationId, projectId } from '../../events/harness.ts'
import { importInto } from '../lists/harness.ts'
import { dateAgo, makeWorld, openIntent, topics } from './harness.ts'
import { companiesWith, peopleWith } from './naive.ts'

const { people, signals } = makeWorld(31)
/** Random questions; more of them on demand. */
const numbers = Number(process.env.INTENT_QUERIES ?? 6)
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
  intent = await openIntent({ env: { FOOTFALL_FREE_ANSWERS_PER_DAY: '1000000' } })
  const own = texts.filter(({ name }) => name !== 'company_domain' && name !== 'pte_person_id')
  const secretsOf = people.map(() =>
    Object.fromEntries(own.map(({ name }) => [name, secretText()])),
  )
  await intent.knowPeople(people, (index) => secretsOf[index]!)
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
  // The opt-out of a browser hides no company.
  await intent.clickhouse.live.command({
    sql: `INSERT INTO opt_outs (organization_id, hem, cookie_id, is_active, changed_at)
          VALUES ({organizationId:UUID}, '', generateUUIDv4(), true, now64(6))`,
    params: { organizationId },
  })
})
afterAll(() => intent.close())

const paths = ['people', 'companies'].flatMap((entity) => [
  [`${entity}/preview`, { topic: topics[0] }] as const,
  [`${entity}/multi/preview`, { topics }] as const,
])

test.each(paths)('%s shows no address, in whichever field it stands', async (path, asked) => {
  const selectable = path.startsWith('people') ? profileFields : companyFields
  for (let index = 0; index < 3; index++) {
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
  expect(dry).toEqual({ dry_run: true, meter: 'intent', records_to_charge: 0 })
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

describe('for random filters, topics, audiences and batches', () => {
  const cookies = people.slice(0, 12).map(({ emails }) => ({ emails, cookie: randomUUID() }))
  let audiences: (string | undefined)[]

  beforeAll(async () => {
    // Own events count, and people who opted out do not.
    const rules = topics.map((topic) => ({ topic, path: `/${topic}%` }))
    await intent.app.inject({ method: 'PUT', url: '/api/v1/intent/rules', payload: { rules } })
    await intent.insert(
      cookies.map(({ cookie }) =>
        eventOf(Date.now(), random.integer(1, 20) * 86_400_000, {
          cookie_id: cookie,
          page_path: `/${random.pick(topics)}`,
        }),
      ),
    )
    await intent.know({
      links: cookies.map(({ cookie, emails }) => linkOf(cookie, hemOf(emails[0]!))),
    })
    await countOwnEvents(
      { postgres: intent.postgres, clickhouse: intent.clickhouse.live },
      organizationId,
    )
    for (const { emails } of people.slice(9, 12)) {
      await intent.optOut(hemOf(emails.at(-1)!), organizationId)
    }
    await reloadIdentity(intent.clickhouse.live)
    const profile = (op: string, value: unknown) => ({
      profile: { field: 'job_seniority', op, value },
    })
    audiences = [undefined]
    const lists = importInto(intent, projectId)
    const listed = [...people.slice(5, 35).map(({ emails }) => emails[0]), 'nobody@nowhere.example']
    const { listId } = await lists.importFile(`${listed.join('\n')}\n`)
    lists.removeFiles()
    for (const include of [
      profile('in', ['director', 'c_suite']),
      profile('ne', 'vice_president'),
      { intent: { topics: topics.slice(0, 2) } },
      { list: { list_id: listId } },
      { event: { event_type: 'page_view', within_days: 30 } },
    ]) {
      const audienceId = await intent.create({ entity: 'people', include })
      await intent.build(audienceId)
      audiences.push(audienceId)
    }
  })

  test('a dry run is what the live run charges, and the count of the preview up to the limit', {
    timeout: 60_000 + numbers * 10_000,
  }, async () => {
    const chargedWith = new Set<string | undefined>()
    for (let index = 0; index < numbers; index++) {
      const entity = random.chance(0.7) ? 'people' : 'companies'
      const several = random.chance(0.5)
      const filter = random.pick([
        undefined,
        'company_domain:eq:alder.example',
        'company_domain:ne:birch.example',
        'company_domain:like:%r.example',
        ...(entity === 'people'
          ? ['job_seniority:in:director|c_suite', 'job_seniority:ne:vice_president']
          : []),
      ])
      const audience_id = entity === 'people' ? random.pick(audiences) : undefined
      const body = {
        ...(several
          ? { topics: topics.slice(0, random.integer(1, 5)), match: random.pick(['any', 'all']) }
          : { topic: random.pick(topics) }),
        intent_window_days: random.pick([7, 30, 90]),
        min_score: random.pick([0, 0, 40]),
        ...(filter && { filter }),
        ...(audience_id && { audience_id }),
      }
      const limit = random.pick([1, 5, 20, 1_000])
      const path = `${entity}${several ? '/multi' : ''}`
      const dry = await intent.ask(path, { ...body, limit, dry_run: true })
      const preview = await intent.ask(`${path}/preview`, body)
      const live = await chargedBy(() => intent.ask(path, { ...body, limit }))
      expect([body, dry.records_to_charge]).toEqual([body, live.charged])
      if (live.charged > 0) chargedWith.add(audience_id)
      expect([body, Math.min(limit, preview.count)]).toEqual([body, live.charged])
      expect(preview.total).toBe(preview.count)
      // After the cursor, a dry run counts what is left.
      const { next_cursor: cursor } = live.answer
      expect(cursor !== undefined).toBe(preview.count > limit)
      if (cursor === undefined) continue
      const rest = { ...body, limit: 1_000, cursor }
      const { records_to_charge } = await intent.ask(path, { ...rest, dry_run: true })
      expect(records_to_charge).toBe(preview.count - limit)
      expect((await chargedBy(() => intent.ask(path, rest))).charged).toBe(records_to_charge)
    }
    if (numbers >= 100) expect([...chargedWith].toSorted()).toEqual(audiences.toSorted())
  })

  test('a dry run of a batch is what the live run charges', async () => {
    const emails = [...people.flatMap((person) => person.emails), 'nobody@nowhere.example', 'no']
    for (let index = 0; index < numbers / 3; index++) {
      const items = Array.from({ length: random.integer(1, 30) }, (_, id) => ({
        id: String(id),
        email: random.pick(emails),
      }))
      const body = { items, ...(random.chance(0.5) && { topics: [random.pick(topics)] }) }
      const { records_to_charge } = await intent.ask('batch', { ...body, dry_run: true })
      const live = await chargedBy(() => intent.ask('batch', body))
      expect(records_to_charge).toBe(live.charged)
      expect(live.answer.matched).toBe(live.charged)
    }
  })

  test('a preview shows the same records all day, and none of an audience of fewer than 25 people', async () => {
    const body = { topics, intent_window_days: 90 }
    const first = await intent.ask('people/multi/preview', body)
    expect((await intent.ask('people/multi/preview', body)).results).toEqual(first.results)
    const fewer = await intent.ask('people/multi/preview', { ...body, limit: 3 })
    expect(fewer.results).toEqual(first.results.slice(0, 3))
    const audience_id = await intent.create({
      entity: 'people',
      include: { profile: { field: 'company_domain', op: 'eq', value: 'alder.example' } },
    })
    await intent.build(audience_id)
    const few = await intent.ask('people/multi/preview', { ...body, audience_id })
    expect(few.count).toBeGreaterThan(0)
    expect(few.results).toEqual([])
  })

  test('each question takes one free answer, also of the project key, and test keys take none', async () => {
    const taken = async () => {
      const { rows } = await intent.postgres.query('SELECT FROM free_answers')
      return rows.length
    }
    const before = await taken()
    const body = { topic: topics[0], min_score: 77 }
    await intent.ask('people', body)
    await intent.ask('people', { ...body, dry_run: true }, { 'x-test-mode': 'test' })
    expect((await taken()) - before).toBe(0)
    for (const path of ['people', 'companies', 'people', 'people/preview'])
      await intent.ask(path, path.includes('preview') ? body : { ...body, dry_run: true })
    await intent.ask('batch', { items: [{ id: 'a', email: 'a@b.example' }], dry_run: true })
    await intent.post('people', { ...body, topic: 'nonsense', dry_run: true })
    expect((await taken()) - before).toBe(4)
  })
})

/** The answer of a call, and the records that it charged. */
async function chargedBy<Answer>(call: () => Promise<Answer>) {
  const before = (await intent.charged()).intent ?? 0
  const answer = await call()
  return { answer, charged: ((await intent.charged()).intent ?? 0) - before }
}
