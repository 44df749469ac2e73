import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Graph, profileAt } from '../../../collector/identity/generate/index.ts'
import {
  fields,
  fieldsAt,
  profileFields,
  publicField,
  selectableAt,
  type Tier,
  tiers,
} from '../../../schemas/fields.ts'
import { isThorough } from '../../harness/thorough.ts'
import { eventOf, linkOf, openEvents, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const graph: Graph = { seed: 3, companies: 5 }

const ada = profileAt(graph, 0)
const ben = profileAt(graph, 1)
const withoutProfile = 'cd'.repeat(32)

const cookies = {
  ada: randomUUID(),
  ben: randomUUID(),
  known: randomUUID(),
  stranger: randomUUID(),
}
const adas = eventOf(now, 1_000, { cookie_id: cookies.ada })
const bens = eventOf(now, 2_000, { cookie_id: cookies.ben })
const known = eventOf(now, 3_000, { cookie_id: cookies.known })
const stranger = eventOf(now, 4_000, { cookie_id: cookies.stranger })
const all = [adas, bens, known, stranger]

const full = 'resolution_full_profile'
const pte = 'resolution_hem_pte'
const page = (tier: Tier, query: Record<string, string> = {}) => events.page(query, {}, tier)
const ids = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id)
const found = async (filter: string, tier: Tier = full) => ids((await page(tier, { filter })).rows)
const namesAt = (tier: Tier) => fieldsAt(tier).map(({ name }) => name)
/** Of a row, what the field table says comes from a profile. */
const profileOf = (row: Row) =>
  Object.fromEntries(profileFields.flatMap(({ name }) => (name in row ? [[name, row[name]]] : [])))
const expectedProfile = ({ hem, ...profile }: Row, tier: Tier) =>
  Object.fromEntries(
    fieldsAt(tier)
      .filter((field) => profileFields.includes(field))
      .map(({ name }) => [name, profile[name] ?? null]),
  )

beforeAll(async () => {
  events = await openEvents()
  await events.insert(all)
  await events.know({
    links: [
      linkOf(cookies.ada, ada.hem),
      linkOf(cookies.ben, ben.hem),
      linkOf(cookies.known, withoutProfile),
    ],
    profiles: [ada, ben],
  })
})
afterAll(() => events.close())

test('a field of a profile is the same, selected with all others or with a few', async () => {
  const names = profileFields.map(({ name }) => name)
  const selected = async (some: readonly string[]) =>
    (await page(full, { select: ['event_id', ...some].join(',') })).rows
  const many = await selected(names)
  const few = await Promise.all(
    Array.from({ length: Math.ceil(names.length / 10) }, (_, n) =>
      selected(names.slice(n * 10, n * 10 + 10)),
    ),
  )
  for (const [index, row] of many.entries()) {
    expect(Object.assign({}, ...few.map((rows) => rows[index]!))).toEqual(row)
  }
  expect(profileOf(many[0]!)).toEqual(expectedProfile(ada, full))
  expect(Object.values(profileOf(many[3]!)).every((value) => value === null)).toBe(true)
})

describe.each(tiers)('%s', (tier) => {
  test('has its own schema', async () => {
    const { fields: shown } = (await events.get(`events/${tier}/schema`)).json()
    expect(shown).toEqual(selectableAt(tier).map(publicField))
  })

  test('says in meta what its rows are charged as', async () => {
    const { meta } = await page(tier)
    expect(meta).toMatchObject({ tier, meter: tier === 'web_event' ? 'events' : tier, records: 4 })
  })

  test('gives identified visitors every field of the tier, in the order of the schema', async () => {
    const { rows } = await page(tier)
    for (const row of rows.slice(0, 3)) expect(Object.keys(row)).toEqual(namesAt(tier))
    expect(profileOf(rows[0]!)).toEqual(expectedProfile(ada, tier))
    expect(profileOf(rows[1]!)).toEqual(expectedProfile(ben, tier))
  })

  test('gives null for what nobody knows of an identified visitor', async () => {
    const [row] = (await page(tier, { filter: `event_id:eq:${known.event_id}` })).rows
    expect(Object.values(profileOf(row!)).every((value) => value === null)).toBe(true)
    if (tier !== 'web_event') expect(row!.hem).toBe(withoutProfile)
  })

  test('gives of other visitors what happened and nothing else', async () => {
    const [row] = (await page(tier, { filter: `event_id:eq:${stranger.event_id}` })).rows
    expect(Object.keys(row!)).toEqual(namesAt(tier === 'web_event' ? tier : 'resolution_hem'))
    expect(row).toMatchObject({ resolved: false, cookie_id: cookies.stranger })
    if (tier !== 'web_event') expect(row!.hem).toBeNull()
  })

  test('gives the same rows as NDJSON, and as CSV with a cell for every field', async () => {
    const { rows } = await page(tier)
    const ndjson = await events.get(`events/${tier}`, {}, { accept: 'application/x-ndjson' })
    expect(ndjson.body).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const csv = (await events.get(`events/${tier}`, {}, { accept: 'text/csv' })).body
    const [head, first, , , last] = csv.split('\n')
    expect(head).toBe(
      namesAt(tier)
        .map((name) => `"${name}"`)
        .join(','),
    )
    if (tier === full) {
      expect(first).toContain(`"${ada.full_name}"`)
      expect(first).toContain(`,${ada.home_latitude},${ada.home_longitude},`)
      expect(last).toMatch(/,{100,}$/)
    }
  })

  test('pages through, in every form, as one page would be', async () => {
    const { rows } = await page(tier)
    // Pages of all tiers come from one reader.
    const others = tier === full ? ['application/x-ndjson', 'text/csv'] : []
    for (const accept of ['application/json', ...others]) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const query = { limit: '1', ...(cursor && { cursor }) }
        const answer = await events.get(`events/${tier}`, query, { accept })
        cursor =
          accept === 'application/json'
            ? answer.json().meta.next_cursor
            : (answer.headers['x-footfall-next-cursor'] as string | undefined)
        seen.push(
          ...rows
            .map(({ event_id }) => event_id as string)
            .filter((id) => answer.body.includes(id)),
        )
      } while (cursor)
      expect(seen).toEqual(ids(rows))
    }
  })
})

describe('select', () => {
  test('names fields of the event and of the profile in any order; nobody’s are null', async () => {
    const { rows } = await page(full, {
      select: 'last_name,event_id,hem,maid,home_latitude,age,is_home_owner',
    })
    expect(rows.map((row) => JSON.stringify(row))).toEqual(
      [ada, ben, { hem: withoutProfile }, { hem: null }].map((person: Row, index) =>
        JSON.stringify({
          last_name: person.last_name ?? null,
          event_id: all[index]!.event_id,
          hem: person.hem,
          maid: person.maid ?? null,
          home_latitude: person.home_latitude ?? null,
          age: person.age ?? null,
          is_home_owner: person.is_home_owner ?? null,
        }),
      ),
    )
  })

  test('of one field is enough', async () => {
    expect((await page(pte, { select: 'pte_person_id' })).rows).toEqual(
      [ada.pte_person_id, ben.pte_person_id, null, null].map((pte_person_id) => ({
        pte_person_id,
      })),
    )
    expect((await page(full, { select: 'email_verified_at', limit: '1' })).rows).toEqual([
      { email_verified_at: ada.email_verified_at },
    ])
  })

  test('works in every form', async () => {
    const query = { select: 'full_name,event_type', limit: '1' }
    const csv = await events.get(`events/${full}`, query, { accept: 'text/csv' })
    expect(csv.body).toBe(`"full_name","event_type"\n"${ada.full_name}","page_view"\n`)
    const ndjson = await events.get(`events/${full}`, query, { accept: 'application/x-ndjson' })
    expect(ndjson.body).toBe(`{"full_name":"${ada.full_name}","event_type":"page_view"}\n`)
  })
})

describe('a filter', () => {
  test('finds by hem', async () => {
    expect(await found(`hem:eq:${ada.hem}`, 'resolution_hem')).toEqual(ids([adas]))
    expect(await found(`hem:ne:${ada.hem}`, 'resolution_hem')).toEqual(ids([bens, known, stranger]))
    expect(await found(`hem:like:${ada.hem.slice(0, 12)}%`)).toEqual(ids([adas]))
    expect(await found('hem:eq:nobody')).toEqual([])
    expect(await found('hem:ne:nobody')).toEqual(ids(all))
  })

  test('finds by resolved, on every tier', async () => {
    for (const tier of tiers) {
      expect(await found('resolved:eq:true', tier)).toEqual(ids([adas, bens, known]))
      expect(await found('resolved:eq:false', tier)).toEqual(ids([stranger]))
    }
  })

  test('finds by what is known of the person: text, number, boolean, time', async () => {
    expect(await found(`email:eq:${ada.email}`)).toEqual(ids([adas]))
    expect(await found(`pte_person_id:eq:${ben.pte_person_id}`, pte)).toEqual(ids([bens]))
    expect(await found('email:like:%@%')).toEqual(ids([adas, bens]))
    expect(await found(`home_latitude:eq:${ada.home_latitude}`)).toEqual(ids([adas]))
    expect(await found('home_latitude:gte:-90')).toEqual(ids([adas, bens]))
    expect(await found(`email_verified_at:eq:${ada.email_verified_at}`)).toContain(adas.event_id)
    expect(await found('email_verified_at:lt:1970-01-02')).toEqual([])
    const owners = [adas, bens].filter((_, index) => [ada, ben][index]!.is_home_owner)
    expect(await found('is_home_owner:eq:true')).toEqual(ids(owners))
  })

  test('takes several at once, with those of the event', async () => {
    expect(await found(`first_name:eq:${ada.first_name},last_name:eq:${ada.last_name}`)).toContain(
      adas.event_id,
    )
    expect(await found(`email:like:%@%,email:ne:${ada.email}`)).toEqual(ids([bens]))
    expect(await found(`email:like:%@%,event_type:eq:click`)).toEqual([])
  })

  test('with ne keeps those of whom it is not known', async () => {
    expect(await found(`email:ne:${ada.email}`)).toEqual(ids([bens, known, stranger]))
    expect(await found(`email:ne:${ada.email},last_name:ne:${ben.last_name}`)).not.toContain(
      adas.event_id,
    )
  })

  test('counts what it finds', async () => {
    const counted = async (filter: string) =>
      (await events.get('events/web_event/counts', { filter })).json().total
    expect(await counted('resolved:eq:true')).toBe(3)
    expect(await counted('resolved:ne:true')).toBe(1)
  })
})

describe('distinct', () => {
  test('keeps each person’s newest event; all strangers are one', async () => {
    const again = [eventOf(now, 5_000, { cookie_id: cookies.ada }), eventOf(now, 6_000)]
    await events.insert(again)
    for (const distinct of ['hem', 'hem,resolved']) {
      expect(ids((await page('resolution_hem', { distinct })).rows)).toEqual(ids(all))
    }
    expect(ids((await page(full, { distinct: 'email' })).rows)).toEqual(ids([adas, bens, known]))
    expect(ids((await page(full, { distinct: 'pte_person_id,cookie_id' })).rows)).toEqual([
      ...ids(all),
      again[1]!.event_id,
    ])
    const { rows } = await page(full, { distinct: 'email', select: 'email', limit: '2' })
    expect(rows).toEqual([{ email: ada.email }, { email: ben.email }])
  })
})

const fieldsAtOnce = isThorough ? 1 : 12

test('every field of the table can be selected and filtered at the full profile', async () => {
  const everything = fields.map(({ name }) => name).join(',')
  const { rows } = await page(full, { select: everything, filter: `hem:eq:${ada.hem}`, limit: '1' })
  const row = rows[0]!
  const filterable = (name: string) => row[name] !== null && name !== 'event_data'
  // Most of a query is its analysis, so a query has several fields. The slow tier has one in each.
  for (let from = 0; from < fields.length; from += fieldsAtOnce) {
    const names = fields.slice(from, from + fieldsAtOnce).map(({ name }) => name)
    const select = names.join(',')
    const selected = await page(full, { select, filter: `hem:eq:${ada.hem}`, limit: '1' })
    expect(selected.rows).toEqual([Object.fromEntries(names.map((name) => [name, row[name]]))])
    const filters = names.filter(filterable).map((name) => `${name}:eq:${row[name]}`)
    if (filters.length > 0) expect(await found(filters.join(','))).toContain(adas.event_id)
  }
  const asked = fields.filter((field) => filterable(field.name))
  const oneOfEachType = new Map(asked.map((field) => [`${field.dataType} ${field.tier}`, field]))
  const denied = isThorough ? asked : [...oneOfEachType.values()]
  for (const { name } of denied)
    expect(await found(`${name}:ne:${row[name]}`), name).not.toContain(adas.event_id)
}, 600_000)

describe('many fields of profiles as text', () => {
  const nasty = {
    first_name: 'a "quoted", \\ text\nof two lines\tand é 😀 NULL \\N \u2028',
    last_name: '=1+1',
    job_title: '"',
    interests: '\t@tab, "formula"',
    full_name: 'null',
    // What looks like the beginning of the next member.
    job_city: 'Berlin,',
    company_name: ',',
    company_phone: ',"',
    vehicle_make: '",',
  }
  const eve: Row = { ...profileAt(graph, 2), ...nasty, hem: 'e'.repeat(64) }
  const eves = eventOf(now, 9_000, {
    cookie_id: randomUUID(),
    page_url: 'https://shop.example/?q="a,b"',
  })
  const window = { end_ms: String(now - 8_999), start_ms: String(now - 9_000) }
  /** Out of order, with fields of the event in between. */
  const names = profileFields.map(({ name }) => name)
  const shuffled = [...names.slice(40).reverse(), 'page_url', ...names.slice(1, 30), 'event_id']
  const textOf = (value: unknown) => (value === null ? '' : String(value))
  const read = async (query: Record<string, string>, accept: string) =>
    (await events.get(`events/${full}`, { ...window, ...query }, { accept })).body

  beforeAll(async () => {
    await events.insert([eves])
    await events.know({ links: [linkOf(eves.cookie_id, String(eve.hem))], profiles: [eve] })
  })

  test('are what they are by few, whatever stands in them, in JSON and CSV', async () => {
    const expected = Object.fromEntries(
      shuffled.map((name) => [name, ({ ...eve, ...eves } as Row)[name] ?? null]),
    )
    const query = { select: shuffled.join(',') }
    const { rows } = JSON.parse(await read(query, 'application/json')) as { rows: Row[] }
    expect(rows.map((row) => Object.entries(row))).toEqual([Object.entries(expected)])
    expect(JSON.parse(await read(query, 'application/x-ndjson'))).toEqual(expected)
    expect(parse(await read(query, 'text/csv'))).toEqual([
      shuffled,
      Object.values(expected).map(textOf),
    ])
  })

  test('escape formulas where that is asked for, of some fields and of all', async () => {
    const escaped = (value: unknown) =>
      typeof value === 'string' && /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : textOf(value)
    for (const some of [shuffled, namesAt(full)]) {
      const [row] = (await page(full, { ...window, select: some.join(',') })).rows
      const query = { select: some.join(','), csv_formulas: 'escape' }
      expect(parse(await read(query, 'text/csv'))[1]).toEqual(
        some.map((name) => escaped(row![name])),
      )
    }
    const whole = parse(await read({ csv_formulas: 'escape' }, 'text/csv'))[1] as string[]
    expect(whole).toContain(`'${nasty.interests}`)
  })

  test('stand in their columns though a profile was written before there was a field', async () => {
    const { hem, pte_person_id, ...others }: Row = { ...eve, hem: 'f'.repeat(64) }
    const older = eventOf(now, 9_500, { cookie_id: randomUUID() })
    await events.insert([older])
    const members = Object.entries(others).map(
      ([name, value]) => `,${JSON.stringify({ [name]: value }).slice(1, -1)}`,
    )
    const row = {
      hem_key: '18446744073709551615',
      hem_number: String(BigInt(`0x${hem}`)),
      pte: '',
      profile: members.join(''),
      updated_at: new Date(now).toISOString(),
    }
    const line = Readable.from([JSON.stringify(row)], { objectMode: false })
    await events.clickhouse.live.insertLines('profile_rows', line, randomUUID())
    await events.know({ links: [linkOf(older.cookie_id, String(hem))] })
    const of = { start_ms: String(now - 9_500), end_ms: String(now - 9_499) }
    const [head, cells] = parse(await read(of, 'text/csv')) as [string[], string[]]
    const told = Object.fromEntries(head.map((name, at) => [name, cells[at]]))
    expect(told).toMatchObject({
      hem,
      pte_person_id: '',
      first_name: nasty.first_name,
      full_name: 'null',
    })
  })
})
