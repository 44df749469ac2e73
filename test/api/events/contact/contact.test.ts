import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { profileFields } from '../../../../schemas/fields.ts'
import { openEvents, type Row } from '../harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>

const hemAt = (index: number) => index.toString(16).padStart(2, '0').repeat(32)
/** Thirty people of one company; every third has no business e-mail, every fifth a second profile. */
const people: Row[] = Array.from({ length: 30 }, (_, index) => ({
  hem: hemAt(index),
  pte_person_id: index === 7 ? null : `person ${String(index).padStart(2, '0')}`,
  first_name: `First ${index}`,
  last_name: index < 20 ? 'Li' : 'Wu',
  age: 20 + index,
  job_title: index % 2 === 0 ? 'Director, "Sales"' : null,
  company_domain: 'one.example',
  is_investor: index % 4 === 0,
  business_email: index % 3 === 0 ? null : `p${index}@one.example`,
  email: index % 3 === 0 ? `p${index}@gmail.com` : `p${index}@one.example`,
  updated_at: '2026-01-02T00:00:00Z',
}))
const secondProfiles = people
  .filter((_, index) => index % 5 === 0)
  .map((person, at) => ({ ...person, hem: hemAt(100 + at), updated_at: '2026-01-01T00:00:00Z' }))

beforeAll(async () => {
  // Contact queries find the profiles of all organizations.
  events = await openEvents({ isAlone: true })
  await events.know({ profiles: [...people, ...secondProfiles] })
})
afterAll(() => events.close())

interface Body {
  results: Row[]
  count: number
  with_business_email: number
  charged: number
  next_cursor?: string
}
const post = (payload: object, headers = {}) =>
  events.app.inject({ method: 'POST', url: '/api/v1/contact/query', payload, headers })
async function query(payload: object): Promise<Body> {
  const answer = await post(payload)
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json()
}
const everybody = { filter: 'company_domain:eq:one.example' }
const namesOf = (results: readonly Row[]) => results.map(({ first_name }) => first_name).sort()
const isBusiness = (_: Row, index: number) => index % 3 !== 0
const namesWhere = (keep: (person: Row, index: number) => boolean) =>
  namesOf(people.filter((person, index) => isBusiness(person, index) && keep(person, index)))
const shown = people.filter(isBusiness)
async function ledger() {
  const { rows } = await events.postgres.query<{ meter: string; records: number }>(
    'SELECT meter, sum(records)::int AS records FROM ledger GROUP BY meter',
  )
  return Object.fromEntries(rows.map(({ meter, records }) => [meter, records]))
}

test('each person is there once, by the profile loaded last, with hem and every field', async () => {
  const { results, count } = await query(everybody)
  expect(count).toBe(20)
  expect(namesOf(results)).toEqual(namesOf(shown))
  for (const result of results) {
    const profile = people.find(({ hem }) => hem === result.hem)!
    expect(Object.entries(result)).toEqual([
      ['hem', profile.hem],
      ...profileFields.map(({ name }) => [name, profile[name] ?? null]),
    ])
  }
})

test('only those with a business e-mail are charged; nothing is told of the others', async () => {
  const before = await ledger()
  expect(await query(everybody)).toMatchObject({ count: 20, with_business_email: 20, charged: 20 })
  expect(await ledger()).toEqual({ ...before, contact: (before.contact ?? 0) + 20 })
  for (const filter of [
    'last_name:eq:Nobody',
    'email:like:%@gmail.com',
    `hem:in:${hemAt(3)}|${hemAt(6)}`,
  ]) {
    expect(await query({ filter, limit: 1 })).toEqual({
      results: [],
      count: 0,
      with_business_email: 0,
      charged: 0,
      meta: { meter: 'contact', records: 0, charged: 0 },
    })
  }
  expect(await ledger()).toEqual({ ...before, contact: (before.contact ?? 0) + 20 })
})

test('what select leaves out is charged all the same', async () => {
  const answer = await query({ ...everybody, select: 'first_name,hem' })
  expect(answer).toMatchObject({ with_business_email: 20, charged: 20 })
  for (const result of answer.results) expect(Object.keys(result)).toEqual(['first_name', 'hem'])
})

describe('pages', () => {
  test.each([1, 7, 19, 20])(
    'of %i have everybody once, and say when there are no more',
    async (limit) => {
      const seen: Row[] = []
      let cursor: string | undefined
      do {
        const page: Body = await query({ ...everybody, limit, ...(cursor && { cursor }) })
        expect(page.results.length).toBeGreaterThan(0)
        expect(page.results.length).toBeLessThanOrEqual(limit)
        seen.push(...page.results)
        cursor = page.next_cursor
      } while (cursor)
      expect(seen).toHaveLength(20)
      expect(namesOf(seen)).toEqual(namesOf(shown))
    },
  )

  test('a cursor of one filter is refused with another', async () => {
    const { next_cursor } = await query({ ...everybody, limit: 2 })
    const answer = await post({ filter: 'last_name:eq:Li', cursor: next_cursor })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      parameter: 'cursor',
      message: expect.stringContaining('issued for another filter'),
    })
    const select = 'first_name, last_name'
    const { results } = await query({ ...everybody, limit: 2, select, cursor: next_cursor })
    expect(Object.keys(results[0]!)).toEqual(['first_name', 'last_name'])
  })

  test('have a hundred people unless the limit says otherwise', async () => {
    expect((await query(everybody)).next_cursor).toBeUndefined()
    expect((await query({ ...everybody, limit: 1000 })).count).toBe(20)
  })
})

describe('a filter', () => {
  test.each([
    ['business_email', 'p1@one.example'],
    ['email', 'p2@one.example'],
  ])('by %s takes an address with blanks around it, in each form', async (field, address) => {
    const value = ` ${address}\n`
    const filters = [
      { filter: [{ field, op: 'eq', value }] },
      { filter: [{ field, op: 'in', value: `nobody@one.example| ${address} ` }] },
      { filter: `${field}:eq:${value}` },
    ]
    for (const body of filters) {
      expect((await query(body)).results).toMatchObject([{ [field]: address }])
    }
  })

  const ops: [string, object[], (person: Row, index: number) => boolean][] = [
    [
      'last_name:eq:Wu',
      [{ field: 'last_name', op: 'eq', value: 'Wu' }],
      ({ last_name }) => last_name === 'Wu',
    ],
    [
      'age:gte:30,age:lt:35',
      [
        { field: 'age', op: 'gte', value: 30 },
        { field: 'age', op: 'lt', value: '35' },
      ],
      (_, index) => index >= 10 && index < 15,
    ],
    [
      'is_investor:eq:true',
      [{ field: 'is_investor', op: 'eq', value: true }],
      (_, index) => index % 4 === 0,
    ],
    ['job_title:ne:x', [{ field: 'job_title', op: 'ne', value: 'x' }], () => true],
    [
      'job_title:like:Director, "%',
      [{ field: 'job_title', op: 'like', value: 'Director, "%' }],
      (_, index) => index % 2 === 0,
    ],
    [
      `hem:eq:${hemAt(4)}`,
      [{ field: 'hem', op: 'eq', value: hemAt(4) }],
      (_, index) => index === 4,
    ],
    ['hem:like:04%', [{ field: 'hem', op: 'like', value: '04%' }], (_, index) => index === 4],
    [
      "last_name:eq:'; DROP TABLE profiles; --",
      [{ field: 'last_name', op: 'eq', value: "'; DROP TABLE profiles; --" }],
      () => false,
    ],
  ]
  test.each(ops)('%s, as a text and as a list', async (text, list, keep) => {
    for (const filter of [text, list]) {
      expect(namesOf((await query({ filter })).results)).toEqual(namesWhere(keep))
    }
  })
})

describe('bad bodies name the member', () => {
  const filter = 'age:gt:1'
  test.each<[string, object]>([
    ['filter', {}],
    ['filter', { filter: '' }],
    ['filter', { filter: [] }],
    ['filter', { filter: 'age' }],
    ['filter', { filter: 'nothing:eq:1' }],
    ['filter', { filter: 'age:gt:old' }],
    ['filter', { filter: 'age:like:1%' }],
    ['filter', { filter: [{ field: 'age', op: 'about', value: 3 }] }],
    ['filter', { filter: 'page_url:eq:x' }],
    ['filter', { filter: 'event_data.url:eq:x' }],
    ['filter', { filter: [{ field: 'event_data.url', op: 'eq', value: 'x' }] }],
    ['select', { filter, select: 'cookie_id' }],
    ['limit', { filter, limit: 0 }],
    ['limit', { filter, limit: 1001 }],
    ['cursor', { filter, cursor: '' }],
    ['cursor', { filter, cursor: 'not ours!' }],
    ['offset', { filter, offset: 1 }],
  ])('%s: %j', async (member, body) => {
    const answer = await post(body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: member })
  })
})

test('a test key asks the sample, and is not charged', async () => {
  const before = await ledger()
  const answer = await post(everybody, { 'x-test-mode': 'test' })
  expect(answer.json()).toMatchObject({ results: [], charged: 0 })
  expect(await ledger()).toEqual(before)
})

test('values as long as they may be are asked for, longer ones refused', async () => {
  const long = (value: string, length: number) =>
    Array.from({ length }, () => ({ field: 'last_name', op: 'ne', value }))
  expect(
    (await query({ filter: [...long('é'.repeat(8_192), 30), ...long('\\'.repeat(8_192), 30)] }))
      .count,
  ).toBe(20)
  const inText = `company_domain:in:one.example|${'\\'.repeat(32_738)}`
  expect((await query({ filter: inText })).count).toBe(20)
  for (const payload of [
    { filter: long('x'.repeat(8_193), 1) },
    { filter: `${inText}xx` },
    { ...everybody, cursor: 'a'.repeat(8_193) },
  ]) {
    const answer = await post(payload)
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_parameter'])
  }
})

test.each<[string, string | null, string | null, string | null, boolean]>([
  ['an address at the company', 'ada@two.example', 'ada@two.example', 'two.example', true],
  ['one that nobody knows the company of', 'ada@two.example', null, null, true],
  ['a business address at a mail provider', 'ada@gmail.com', 'ada@gmail.com', 'two.example', false],
  ['the same in capitals', 'ADA@GMAIL.COM', null, 'two.example', false],
  ['only email, at the company', null, 'ada@two.example', 'two.example', true],
  ['only email, below the company’s domain', null, 'ada@mail.two.example', 'Two.Example', true],
  ['only email, elsewhere', null, 'ada@nottwo.example', 'two.example', false],
  ['only email, of a company that nobody knows', null, 'ada@two.example', null, false],
  ['only email, at a mail provider that is the company', null, 'ada@gmail.com', 'gmail.com', false],
  ['an empty business address', '', 'ada@gmail.com', 'two.example', false],
  ['no address', null, null, 'two.example', false],
])('a business e-mail: %s', async (name, business_email, email, company_domain, is) => {
  const hem = createHash('sha256').update(name).digest('hex')
  await events.know({ profiles: [{ hem, business_email, email, company_domain }] })
  expect((await query({ filter: `hem:eq:${hem}` })).count).toBe(is ? 1 : 0)
})

test('a filter by hem takes any address that a profile names', async () => {
  const [work, home] = ['zoe@zoe.example', 'zoe@home.example']
  const zoe = { hem: hemOf(work), first_name: 'Zoe', business_email: work, personal_email: home }
  await events.know({ profiles: [zoe] })
  for (const filter of [`hem:eq:${hemOf(home)}`, `hem:in:${hemAt(250)}|${hemOf(home)}`])
    expect((await query({ filter })).results).toMatchObject([zoe])
})
