/** POST /api/v1/intent/batch: people by their addresses. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { projectId } from '../../events/harness.ts'
import { dateAgo, makeWorld, openIntent, topics } from './harness.ts'
import { interestOf, peopleWith } from './naive.ts'

const { people, signals } = makeWorld(23)
let intent: Awaited<ReturnType<typeof openIntent>>

beforeAll(async () => {
  intent = await openIntent()
  await intent.knowPeople(people)
  await intent.signal(signals)
})
afterAll(() => intent.close())

const addresses = [...people.flatMap(({ emails }) => emails), 'stranger@nowhere.example']
const items = addresses.map((email, index) => ({ id: `item ${index}`, email }))

test.each([
  { topics: null, days: 30 },
  { topics: ['wine', 'golf'], days: 7 },
  { topics: [topics[0]!], days: 365 },
])(
  'every item has the topics of its person, in order, by any address: $topics in $days days',
  async (asked) => {
    const known = peopleWith(people, signals)
    const body = {
      items,
      intent_window_days: asked.days,
      ...(asked.topics && { topics: asked.topics }),
    }
    const before = (await intent.charged()).intent ?? 0
    const dry = await intent.ask('batch', { ...body, dry_run: true })
    expect((await intent.charged()).intent ?? 0).toBe(before)
    const answer = await intent.ask('batch', body)
    const expected = items.map(({ id, email }) => {
      const signals = known.find(({ person }) => person.emails.includes(email))?.signals ?? []
      const found = interestOf(signals, asked.days, asked.topics)
        .toSorted((one, other) => other.score - one.score || (one.topic < other.topic ? -1 : 1))
        .map(({ daysAgo, ...one }) => ({ ...one, last_seen: dateAgo(daysAgo) }))
      return { id, matched: found.length > 0, topics: found }
    })
    expect(answer.results).toEqual(expected)
    const matched = expected.filter((one) => one.matched).length
    expect(matched).toBeGreaterThan(10)
    expect(answer).toMatchObject({ count: items.length, matched, charged: matched })
    expect(dry).toEqual({ dry_run: true, meter: 'intent', records_to_charge: matched })
    expect((await intent.charged()).intent! - before).toBe(matched)
  },
)

test('a person matches through an address that only the profile names', async () => {
  const [work, home] = ['dia@firm.example', 'dia@home.example']
  await intent.know({ profiles: [{ hem: hemOf(work), email: work, additional_emails: home }] })
  await intent.signal([{ topic: 'wine', email: work, daysAgo: 1, score: 80, source: 'one' }])
  const answer = await intent.ask('batch', { items: [{ id: 'a', email: home }] })
  expect(answer).toMatchObject({ results: [{ id: 'a', matched: true }], charged: 1 })
})

test('a person matches through any of their addresses', async () => {
  const emails = ['first@several.example', 'second@several.example']
  await intent.knowPeople([{ emails, company_domain: null, job_seniority: null }], () => ({
    pte_person_id: 'several',
  }))
  await intent.signal([{ topic: 'tea', email: emails[1]!, daysAgo: 1, score: 90, source: 'x' }])
  const asked = { items: emails.map((email) => ({ id: email, email })), topics: ['tea'] }
  const { results } = await intent.ask('batch', asked)
  expect(results.map((one: { matched: boolean }) => one.matched)).toEqual([true, true])
})

test('what is wrong with an item costs its neighbours nothing', async () => {
  const email = people.find(({ emails }) => signals.some((one) => emails.includes(one.email!)))!
    .emails[0]!
  const good = { id: 'good', email }
  const { results, charged } = await intent.ask('batch', {
    items: [
      good,
      null,
      7,
      'text',
      [],
      {},
      { id: 'no address' },
      { id: 'bad', email: 'not one' },
      { id: 'number', email: 7 },
      { email },
      { id: 7, email },
      { id: '', email },
      { id: 'x'.repeat(256), email },
      { id: 'good', email },
      { id: 'more', email, other: 1 },
      { id: 'both', email, hem: hemOf(email) },
      { id: 'hem', hem: hemOf(email) },
      { id: 'last', email: `  ${email.toUpperCase()} ` },
    ],
    intent_window_days: 365,
  })
  const shown = results.map(({ id, error, matched }: Record<string, never>) =>
    error ? [id, (error as { parameter: string }).parameter] : [id, matched],
  )
  expect(shown).toEqual([
    ['good', true],
    [null, 'items'],
    [null, 'items'],
    [null, 'items'],
    [null, 'items'],
    [null, 'id'],
    ['no address', 'hem'],
    ['bad', 'email'],
    ['number', 'email'],
    [null, 'id'],
    [null, 'id'],
    ['', true],
    [null, 'id'],
    ['good', true],
    ['more', 'other'],
    ['both', 'email'],
    ['hem', true],
    ['last', true],
  ])
  for (const one of results.filter(({ error }: { error?: unknown }) => error)) {
    expect(Object.keys(one)).toEqual(['id', 'error'])
    expect(one.error).toMatchObject({
      error: 'invalid_parameter',
      index: results.indexOf(one),
      path: expect.any(String),
      code: 'invalid_parameter',
      message: expect.any(String),
    })
  }
  expect(charged).toBe(5)
})

test.each([
  [{ items: [] }, 'items'],
  [{ items: Array.from({ length: 10_001 }, (_, index) => ({ id: `${index}` })) }, 'items'],
  [{ items: {} }, 'items'],
  [{}, 'items'],
  [{ items, topics: [] }, 'topics'],
  [{ items, topics: ['wine', 'nonsense'] }, 'topics'],
  [{ items, intent_window_days: 366 }, 'intent_window_days'],
  [{ items, dry_run: 'true' }, 'dry_run'],
])('batch %# is 400', async (body, parameter) => {
  const answer = await intent.post('batch', body)
  expect({ status: answer.statusCode, ...answer.json() }).toMatchObject({
    status: 400,
    error: 'invalid_parameter',
    parameter,
  })
})

test('unknown topics are named', async () => {
  const answer = await intent.post('batch', {
    items,
    topics: ['wine', 'nonsense', 'other_nonsense'],
  })
  expect(answer.json().message).toContain('"nonsense", "other_nonsense"')
})

test('a full batch answers in order, and a project key is charged for its project', async () => {
  const full = Array.from({ length: 10_000 }, (_, index) => ({
    id: String(index),
    email: addresses[index % addresses.length]!,
  }))
  const answer = await intent.ask('batch', { items: full }, { 'x-project-key': projectId })
  expect(answer.results.map(({ id }: { id: string }) => id)).toEqual(full.map(({ id }) => id))
  const { rows } = await intent.postgres.query(
    'SELECT sum(records)::int AS records FROM ledger WHERE project_id = $1',
    [projectId],
  )
  expect(rows).toEqual([{ records: answer.matched }])
})

test('a repeat with the same Idempotency-Key is free', async () => {
  const headers = { 'idempotency-key': 'batch-1' }
  const first = await intent.ask('batch', { items }, headers)
  expect(first.charged).toBeGreaterThan(0)
  expect((await intent.ask('batch', { items }, headers)).charged).toBe(0)
})
