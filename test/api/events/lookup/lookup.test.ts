import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Graph, profileAt } from '../../../../collector/identity/generate/index.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { profileFields } from '../../../../schemas/fields.ts'
import { openEvents, type Row } from '../harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const graph: Graph = { seed: 5, companies: 20 }
const people: Row[] = Array.from({ length: 40 }, (_, index) => profileAt(graph, index))
const [ada, ben] = people as [Row, Row, ...Row[]]
/** Somebody who has two profiles, by two addresses. */
const dot = people.find(
  ({ hem, pte_person_id }) =>
    people.filter((other) => other.hem !== hem && other.pte_person_id === pte_person_id).length > 0,
)!
const nobody = 'nobody@nowhere.example'

beforeAll(async () => {
  events = await openEvents()
  await events.know({ profiles: people })
  // Current data replaces earlier data, also while both rows exist.
  await events.know({
    profiles: [{ ...ada, job_title: 'Once', updated_at: '2020-01-01T00:00:00Z' }],
  })
})
afterAll(() => events.close())

/** A profile as answers show it. */
const personOf = (profile: Row) => ({
  hem: profile.hem,
  ...Object.fromEntries(profileFields.map(({ name }) => [name, profile[name] ?? null])),
})
const path = '/api/v1/lookup'
const get = (query: Record<string, string>, headers = {}) =>
  events.app.inject({ url: `${path}?${new URLSearchParams(query)}`, headers })
const post = (payload: object, headers = {}) =>
  events.app.inject({ method: 'POST', url: path, payload, headers })
const batch = (payload: object, headers = {}) =>
  events.app.inject({ method: 'POST', url: `${path}/batch`, payload, headers })
async function charged(): Promise<number> {
  const { rows } = await events.postgres.query<{ records: number }>(
    `SELECT coalesce(sum(records), 0)::int AS records FROM ledger WHERE meter = 'lookup'`,
  )
  return rows[0]!.records
}
/** Records that `work` is charged. */
async function cost(work: () => Promise<unknown>): Promise<number> {
  const before = await charged()
  await work()
  return (await charged()) - before
}

describe('one person', () => {
  test('is found by hem and by e-mail address, with hem and every field of the profile, in their order', async () => {
    for (const subject of [{ hem: ada.hem as string }, { email: ada.email as string }]) {
      for (const answer of [await get(subject), await post(subject)]) {
        expect(answer.statusCode).toBe(200)
        expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
        expect(answer.body).toBe(
          JSON.stringify({
            matched: true,
            person: personOf(ada),
            meta: { meter: 'lookup', records: 1, charged: 1 },
          }),
        )
      }
    }
  })

  test('is found however the address or the hash is written', async () => {
    for (const subject of [
      { email: ` ${String(ada.email).toUpperCase()} ` },
      { hem: String(ada.hem).toUpperCase() },
    ]) {
      expect((await post(subject)).json().person.hem).toBe(ada.hem)
    }
  })

  test('who has two addresses is found by both', async () => {
    for (const email of [dot.email, dot.personal_email]) {
      const { person } = (await get({ email: email as string })).json()
      expect(person).toMatchObject({
        hem: hemOf(email as string),
        pte_person_id: dot.pte_person_id,
      })
    }
  })

  test('is found by every address that only the profile names', async () => {
    const of = (address: string) => `${address}-${randomUUID()}@firm.example`
    const [work, home, old, shared] = [of('work'), of('home'), of('old'), of('info')]
    const ida = {
      hem: hemOf(work),
      first_name: 'Ida',
      business_email: work,
      personal_email: ` ${home.toUpperCase()}`,
      additional_emails: `${old}, ${shared}`,
    }
    const other = of('other')
    const max = { hem: hemOf(other), first_name: 'Max', email: shared, personal_email: work }
    await events.know({ profiles: [ida, max] })
    const nameOf = async (email: string) => (await get({ email })).json().person?.first_name
    for (const email of [work, home, old]) expect(await nameOf(email)).toBe('Ida')
    expect(await nameOf(other)).toBe('Max')
    // An address that two people name, and that has no profile, belongs to nobody.
    expect(await nameOf(shared)).toBeUndefined()
    const items = [{ hem: hemOf(home) }, { email: work }, { email: shared }]
    expect((await batch({ items, select: 'hem,first_name' })).json()).toMatchObject({
      matched: 2,
      charged: 2,
      results: [
        { person: { hem: hemOf(home), first_name: 'Ida' } },
        { person: { hem: hemOf(work), first_name: 'Ida' } },
        { matched: false },
      ],
    })
  })

  test('with select has these fields in this order', async () => {
    const answer = await get({
      hem: ada.hem as string,
      select: 'last_name,hem,home_latitude,is_home_owner,maid',
    })
    expect(JSON.stringify(answer.json().person)).toBe(
      JSON.stringify({
        last_name: ada.last_name,
        hem: ada.hem,
        home_latitude: ada.home_latitude ?? null,
        is_home_owner: ada.is_home_owner ?? null,
        maid: ada.maid ?? null,
      }),
    )
  })

  test('costs a record; nobody costs nothing', async () => {
    expect(await cost(() => get({ hem: ada.hem as string }))).toBe(1)
    expect(
      await cost(async () => {
        const answer = await get({ email: nobody })
        expect(answer.statusCode).toBe(200)
        expect(answer.json()).toEqual({
          matched: false,
          person: null,
          meta: { meter: 'lookup', records: 0, charged: 0 },
        })
        expect(answer.headers['x-footfall-charged']).toBe('0')
      }),
    ).toBe(0)
  })

  test.each<[string, Record<string, string>]>([
    ['hem', {}],
    ['email', { hem: hemOf(nobody), email: nobody }],
    ['hem', { hem: 'abc' }],
    ['hem', { hem: `${hemOf(nobody)}0` }],
    ['email', { email: 'not an address' }],
    ['email', { email: 'a@' }],
    ['email', { email: '' }],
    ['select', { email: nobody, select: 'event_id' }],
    ['select', { email: nobody, select: 'hem,hem' }],
    ['cookie_id', { cookie_id: 'x' }],
  ])('%s is named where it is wrong: %j', async (parameter, subject) => {
    for (const answer of [await get(subject), await post(subject)]) {
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
    }
  })
})

describe('a batch', () => {
  test('answers each item in its place, found, missed or wrong', async () => {
    const items = [
      { id: 'a', hem: ada.hem },
      { email: nobody },
      { id: 'c', email: 'no address' },
      { id: 'd', hem: ben.hem, email: ben.email },
      { id: 'e' },
      null,
      { id: 7, hem: ben.hem },
      { id: 'h', hem: ben.hem, cookie_id: 'x' },
      { id: 'a', email: ben.email },
      'text',
    ]
    const answer = await batch({ items })
    expect(answer.statusCode).toBe(200)
    const miss = { matched: false, person: null }
    const wrong = (index: number, parameter: string) => ({
      ...miss,
      index,
      error: {
        error: 'invalid_parameter',
        index,
        path: parameter === 'items' ? '' : `/${parameter}`,
        code: 'invalid_parameter',
        message: expect.any(String),
        parameter,
      },
    })
    expect(answer.json()).toEqual({
      results: [
        { index: 0, id: 'a', matched: true, person: personOf(ada) },
        { index: 1, id: null, ...miss },
        { id: 'c', ...wrong(2, 'email') },
        { id: 'd', ...wrong(3, 'email') },
        { id: 'e', ...wrong(4, 'hem') },
        { id: null, ...wrong(5, 'items') },
        { id: null, ...wrong(6, 'id') },
        { id: 'h', ...wrong(7, 'cookie_id') },
        { index: 8, id: 'a', matched: true, person: personOf(ben) },
        { id: null, ...wrong(9, 'items') },
      ],
      count: 10,
      matched: 2,
      charged: 2,
      meta: { meter: 'lookup', records: 2, charged: 2 },
    })
  })

  test('of 10,000 items is answered whole, and two of one person are two records', async () => {
    const items = Array.from({ length: 10_000 }, (_, n) =>
      n % 2 === 0
        ? { id: String(n), hem: people[n % 40]!.hem }
        : { id: String(n), email: `${n}@nowhere.example` },
    )
    let body: { results: Row[]; matched: number; charged: number } | undefined
    const records = await cost(async () => {
      body = (await batch({ items, select: 'hem,full_name' })).json()
    })
    expect(body).toMatchObject({ count: 10_000, matched: 5_000, charged: 5_000 })
    expect(records).toBe(5_000)
    for (const [n, { index, id, matched, person }] of body!.results.entries()) {
      const { hem, full_name } = people[n % 40]!
      const found = { matched: true, person: { hem, full_name } }
      expect({ index, id, matched, person }).toEqual({
        index: n,
        id: String(n),
        ...(n % 2 === 0 ? found : { matched: false, person: null }),
      })
    }
  })

  test('of 10,001 is refused, and names items', async () => {
    const answer = await batch({ items: Array.from({ length: 10_001 }, () => ({ email: nobody })) })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'items' })
  })

  test('of the longest items fits into a body', async () => {
    const items = Array.from({ length: 10_000 }, (_, n) => ({
      id: 'i'.repeat(255),
      email: `${String(n).padStart(240, 'e')}@long.example`,
    }))
    expect((await batch({ items })).json()).toMatchObject({ count: 10_000, matched: 0, charged: 0 })
  })

  test('of nothing, and of misses only, costs nothing', async () => {
    expect(await cost(() => batch({ items: [] }))).toBe(0)
    expect(await cost(() => batch({ items: [{ email: nobody }, { hem: 'x' }] }))).toBe(0)
    expect((await batch({ items: [] })).json()).toEqual({
      results: [],
      count: 0,
      matched: 0,
      charged: 0,
      meta: { meter: 'lookup', records: 0, charged: 0 },
    })
  })

  test.each([
    ['items', {}],
    ['items', { items: 'x' }],
    ['select', { items: [], select: 'page_url' }],
    ['dry_run', { items: [], dry_run: true }],
  ])('%s is named where it is wrong: %j', async (parameter, body) => {
    expect((await batch(body)).json()).toMatchObject({ error: 'invalid_parameter', parameter })
  })
})

test('a test key looks people up in the sample, and is not charged', async () => {
  const headers = { 'x-test-mode': 'test' }
  expect(
    await cost(async () => {
      expect((await get({ hem: ada.hem as string }, headers)).json()).toEqual({
        matched: false,
        person: null,
        meta: { meter: 'lookup', records: 0, charged: 0 },
      })
      expect((await batch({ items: [{ hem: ada.hem }] }, headers)).json()).toMatchObject({
        count: 1,
        matched: 0,
        charged: 0,
      })
    }),
  ).toBe(0)
})
