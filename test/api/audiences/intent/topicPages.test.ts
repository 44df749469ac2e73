/**
 * Topic to people and companies: the pages, dry runs and previews of random requests against a naive
 * evaluator (`INTENT_QUERIES` sets how many), and refusals.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { seededRandom } from '../../../../collector/platform/seededRandom.ts'
import { organizationId, projectId } from '../../events/harness.ts'
import { dateAgo, makeWorld, openIntent, topics } from './harness.ts'
import { companiesWith, interested, peopleWith, type Question } from './naive.ts'

const queries = Number(process.env.INTENT_QUERIES ?? 15)
const { people, signals } = makeWorld(7)
let intent: Awaited<ReturnType<typeof openIntent>>

beforeAll(async () => {
  intent = await openIntent({ env: { FOOTFALL_FREE_ANSWERS_PER_DAY: '1000000' } })
  await intent.knowPeople(people)
  await intent.signal(signals)
})
afterAll(() => intent.close())

interface Result {
  person?: Record<string, unknown>
  company?: Record<string, unknown>
  score: number
  topics: { topic: string; score: number; signals: number; last_seen: string }[]
}
const keyOf = ({ person, company }: Result) => (person?.hem ?? company?.company_domain) as string

/** All pages of a question; none has more than `limit`. */
async function readAll(
  path: string,
  body: Record<string, unknown>,
  limit: number,
): Promise<Result[]> {
  const results: Result[] = []
  let isAfterCursor = false
  for (let cursor: string | undefined; ; ) {
    const page = await intent.ask(path, { ...body, limit, ...(cursor && { cursor }) })
    expect(page.count).toBe(page.results.length)
    expect(page.meta.charged).toBe(page.count)
    if (isAfterCursor) expect(page.count).toBeGreaterThan(0)
    results.push(...page.results)
    cursor = page.next_cursor
    if (!cursor) return results
    // A page has a cursor only when records follow.
    expect(page.count).toBe(limit)
    isAfterCursor = true
  }
}

/** A question as a body says it. */
const bodyOf = ({ topics, match, min_score, days, seniority }: Question) => ({
  ...(topics.length === 1 ? { topic: topics[0] } : { topics, match }),
  min_score,
  intent_window_days: days,
  ...(seniority && { filter: `job_seniority:eq:${seniority}` }),
})

test(
  'pages have everybody once, by score, as the naive evaluator finds them',
  async () => {
    const random = seededRandom(11)
    let found = 0
    for (let index = 0; index < queries; index++) {
      const isOfPeople = random.chance(0.6)
      const count = random.pick([1, 1, 2, 3])
      const asked: Question = {
        topics: [...topics].sort(() => random.next() - 0.5).slice(0, count),
        match: count === 1 ? 'any' : random.pick(['any', 'all']),
        min_score: random.pick([0, 0, 30, 50, 70]),
        days: random.pick([1, 7, 30, 60, 120, 365]),
        ...(isOfPeople && random.chance(0.3) && { seniority: 'c_suite' }),
      }
      const subjects = isOfPeople ? peopleWith(people, signals) : companiesWith(people, signals)
      const expected = interested(subjects, asked)
      const path = `${isOfPeople ? 'people' : 'companies'}${count > 1 ? '/multi' : ''}`
      const body = bodyOf(asked)
      const results = await readAll(path, body, random.pick([7, 20, 1_000]))
      const shape = (key: string, score: number, topics: unknown[]) => ({ key, score, topics })
      const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1)
      expect(results.map((one) => shape(keyOf(one), one.score, one.topics)).sort(byKey)).toEqual(
        expected
          .map(({ key, score, topics }) =>
            shape(
              key,
              score,
              topics
                .toSorted(
                  (one, other) => other.score - one.score || (one.topic < other.topic ? -1 : 1),
                )
                .map(({ daysAgo, ...one }) => ({ ...one, last_seen: dateAgo(daysAgo) })),
            ),
          )
          .sort(byKey),
      )
      expect(results.map(({ score }) => score)).toEqual(expected.map(({ score }) => score))
      found += results.length
      // The cost of a dry run equals the charge of the live request.
      const limit = random.pick([1, 5, 1_000])
      const before = (await intent.charged()).intent ?? 0
      const dry = await intent.ask(path, { ...body, limit, dry_run: true })
      expect((await intent.charged()).intent ?? 0).toBe(before)
      const live = await intent.ask(path, { ...body, limit })
      expect(dry).toEqual({ dry_run: true, meter: 'intent', records_to_charge: live.count })
      expect(((await intent.charged()).intent ?? 0) - before).toBe(live.count)
      const preview = await intent.ask(`${path}/preview`, body)
      expect(preview.count).toBe(expected.length)
      expect(preview.results.length).toBe(Math.min(25, expected.length))
      expect(((await intent.charged()).intent ?? 0) - before).toBe(live.count)
    }
    expect(found).toBeGreaterThan(queries)
  },
  60_000 + queries * 2_000,
)

test('people with several addresses are one row, by the profile loaded last', async () => {
  const several = people.find(({ emails }) => emails.length === 3)!
  const results = await readAll('people/multi', { topics, intent_window_days: 365 }, 1_000)
  const theirs = results.filter(({ person }) =>
    several.emails.map(hemOf).includes(person!.hem as string),
  )
  expect(theirs.map(({ person }) => person!.email)).toEqual([several.emails[0]])
})

test('the score is that of the formula: 50 for one full signal out of nowhere, less for what goes on as before', async () => {
  const once = (email: string, daysAgo: number, score = 100, source = 'x') => ({
    topic: 'baking',
    email,
    daysAgo,
    score,
    source,
  })
  await intent.signal([
    once('new@score.example', 0),
    ...['a', 'b', 'c'].map((source) => once('three@score.example', 1, 100, source)),
    once('half@score.example', 2, 50),
    once('steady@score.example', 3),
    ...[30, 60, 113].map((daysAgo) => once('steady@score.example', daysAgo)),
    once('forgotten@score.example', 114),
    once('forgotten@score.example', 29),
    once('past@score.example', 30),
  ])
  const { results } = await intent.ask('people', { topic: 'baking' })
  const scores = Object.fromEntries(results.map((one: Result) => [one.person!.hem, one.score]))
  expect(scores).toEqual({
    [hemOf('three@score.example')]: 75,
    [hemOf('new@score.example')]: 50,
    [hemOf('forgotten@score.example')]: 50,
    [hemOf('half@score.example')]: 33,
    // 1 ÷ (1 + 3 × 30 ÷ 84 + 1)
    [hemOf('steady@score.example')]: 33,
  })
  expect((await intent.ask('people', { topic: 'baking' })).results).toEqual(results)
})

test('select chooses the fields; of somebody without a profile the hem is all there is', async () => {
  await intent.signal([
    { topic: 'tea', email: 'nobody@nowhere.example', daysAgo: 0, score: 80, source: 'x' },
  ])
  const { results } = await intent.ask('people', { topic: 'tea', select: 'hem,first_name' })
  expect(results).toEqual([
    {
      person: { hem: hemOf('nobody@nowhere.example'), first_name: null },
      score: 44,
      topics: [{ topic: 'tea', score: 44, signals: 1, last_seen: dateAgo(0) }],
    },
  ])
  const companies = await intent.ask('companies', { topic: topics[0], select: 'company_domain' })
  for (const { company } of companies.results)
    expect(Object.keys(company)).toEqual(['company_domain'])
})

describe('audience_id', () => {
  const definition = {
    entity: 'people',
    include: { profile: { field: 'job_seniority', op: 'eq', value: 'director' } },
  }

  test('only its members are found; a page goes on in the build it began with', async () => {
    const audienceId = await intent.create(definition)
    const body = { topic: topics[0], audience_id: audienceId, limit: 1, intent_window_days: 90 }
    expect((await intent.post('people', body)).json()).toMatchObject({ error: 'not_ready' })
    expect((await intent.post('people', body)).statusCode).toBe(409)
    await intent.build(audienceId)
    const all = await readAll('people', { ...body, limit: undefined }, 1_000)
    const expected = interested(peopleWith(people, signals), {
      topics: [topics[0]!],
      match: 'any',
      min_score: 0,
      days: 90,
      seniority: 'director',
    })
    expect(all.map(keyOf).sort()).toEqual(expected.map(({ key }) => key).sort())
    expect(all.length).toBeGreaterThan(1)
    const { next_cursor } = await intent.ask('people', body)
    await intent.build(audienceId)
    const stale = await intent.post('people', { ...body, cursor: next_cursor })
    expect({ status: stale.statusCode, error: stale.json().error }).toEqual({
      status: 409,
      error: 'cursor_stale',
    })
  })

  test('another organization’s is not found, one of the other entity refused, in every route', async () => {
    const audienceId = await intent.create(definition)
    await intent.build(audienceId)
    for (const path of ['people', 'people/preview', 'people/multi', 'people/multi/preview']) {
      const asked = path.includes('multi') ? { topics } : { topic: topics[0] }
      const body = { ...asked, audience_id: audienceId }
      expect((await intent.post(path, body)).statusCode).toBe(200)
      const foreign = await intent.post(path, body, { 'x-organization': projectId })
      expect(foreign.json()).toMatchObject({ error: 'audience not found' })
      const companies = await intent.post(path.replace('people', 'companies'), body)
      expect(companies.json()).toMatchObject({
        error: 'invalid_parameter',
        parameter: 'audience_id',
      })
    }
  })
})

test('a project key gets what the organization’s does, and its project is charged', async () => {
  const body = { topic: topics[0], limit: 5 }
  const answer = await intent.ask('people', body, { 'x-project-key': projectId })
  expect(answer.results).toEqual((await intent.ask('people', body)).results)
  const { rows } = await intent.postgres.query(
    'SELECT sum(records)::int AS records FROM ledger WHERE project_id = $1 AND organization_id = $2',
    [projectId, organizationId],
  )
  expect(rows).toEqual([{ records: answer.count }])
})

test.each([
  [{ topic: 'nonsense' }, 'topic', '"nonsense"'],
  [{ topic: topics[0], intent_window_days: 0 }, 'intent_window_days', ''],
  [{ topic: topics[0], intent_window_days: 366 }, 'intent_window_days', ''],
  [{ topic: topics[0], intent_window_days: 1.5 }, 'intent_window_days', ''],
  [{ topic: topics[0], min_score: 101 }, 'min_score', ''],
  [{ topic: topics[0], limit: 1_001 }, 'limit', ''],
  [{ topic: topics[0], limit: 0 }, 'limit', ''],
  [{ topic: topics[0], audience_id: 'x' }, 'audience_id', ''],
  [{ topic: topics[0], filter: 'email:eq:a@b.example' }, 'filter', 'intent/batch'],
  [{ topic: topics[0], filter: 'hem:like:a%' }, 'filter', 'intent/batch'],
  [{ topic: topics[0], filter: 'page_url:eq:/x' }, 'filter', 'not a field of a person'],
  [{ topic: topics[0], select: 'nothing' }, 'select', '"nothing"'],
  [{ topic: topics[0], cursor: 'AAAA' }, 'cursor', ''],
  [{ topic: topics[0], other: 1 }, 'other', ''],
  [{}, 'topic', ''],
])('%j is 400 and names %s', async (body, parameter, message) => {
  const answer = await intent.post('people', body)
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
  expect(answer.statusCode).toBe(400)
  expect(answer.json().message).toContain(message)
})

test.each([
  [{ topics: [] }, ''],
  [{ topics: ['golf', 'nonsense', 'more_of_it'] }, '"nonsense", "more_of_it"'],
  [{ topics: ['golf', 'golf'] }, '"golf" twice'],
  [{ topics: Array.from({ length: 26 }, (_, index) => `t${index}`) }, ''],
])('multi: %j is 400 and names what is wrong', async (body, message) => {
  const answer = await intent.post('companies/multi', body)
  expect(answer.json()).toMatchObject({
    error: 'invalid_parameter',
    parameter: expect.stringMatching(/^topics/),
  })
  expect(answer.json().message).toContain(message)
})

test('a cursor serves the request that gave it, with another limit, and no other', async () => {
  const body = { topic: topics[0], limit: 2, intent_window_days: 90 }
  const { next_cursor: cursor } = await intent.ask('people', body)
  expect((await intent.ask('people', { ...body, limit: 3, cursor })).count).toBe(3)
  for (const other of [{ min_score: 1 }, { topic: topics[1] }, { intent_window_days: 91 }]) {
    expect((await intent.post('people', { ...body, ...other, cursor })).statusCode).toBe(400)
  }
  expect((await intent.post('companies', { ...body, cursor })).statusCode).toBe(400)
  const foreign = await intent.post('people', { ...body, cursor }, { 'x-organization': projectId })
  expect(foreign.statusCode).toBe(400)
})
