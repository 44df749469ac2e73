import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selectableAt } from '../../../schemas/fields.ts'
import { randomRuns } from '../../harness/thorough.ts'
import { eventOf, linkOf, openEvents, type Row } from './harness.ts'

const minute = 60_000
const rest = 30 * minute
const day = 86_400_000
/** A midnight, a week ago: histories of five days end before now. */
const midnight = Math.floor(Date.now() / day) * day - 7 * day

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

interface Visit {
  session: string
  is_entry: boolean
}

/**
 * The definition, event by event: the events of one visitor in the order of time. A session ends by 30 minutes of
 * rest, and at midnight when it has lasted the whole day before, or began with such a midnight.
 */
function visitsOf(history: readonly Row[]): Map<unknown, Visit> {
  const visits = new Map<unknown, Visit>()
  const dayOf = (ms: number) => Math.floor(ms / day)
  let session = ''
  let hasEntry = false
  let unrestedSince = 0
  let before = Number.NEGATIVE_INFINITY
  for (const event of history) {
    const at = Number(event.ts_millis)
    const isRested = at - before >= rest
    if (isRested) unrestedSince = at
    const isCut = dayOf(at) > dayOf(before) && unrestedSince < (dayOf(at) - 1) * day
    if (isRested || isCut) {
      session = `${event.cookie_id} ${at}`
      hasEntry = false
    }
    const is_entry: boolean = event.event_type === 'page_view' && !hasEntry
    hasEntry ||= is_entry
    visits.set(event.event_id, { session, is_entry })
    before = at
  }
  return visits
}

/** For all these visitors. Events of the same millisecond are in the order of pages. */
function expectedOf(newestFirst: readonly Row[]): Map<unknown, Visit> {
  const histories = new Map<string, Row[]>()
  for (const row of newestFirst.toReversed()) {
    const visitor = [row.project_id, row.cookie_id].join()
    histories.set(visitor, [...(histories.get(visitor) ?? []), row])
  }
  return new Map([...histories.values()].flatMap((history) => [...visitsOf(history)]))
}

/** That rows have the sessions of `expected`: the same partition, and the same entries. */
function expectVisits(rows: readonly Row[], expected: ReadonlyMap<unknown, Visit>): void {
  const ids = new Map<unknown, string>()
  for (const row of rows) {
    const { session, is_entry } = expected.get(row.event_id)!
    expect(row.is_entry, `is_entry of ${row.event_id}`).toBe(is_entry)
    expect(ids.get(row.session_id) ?? session, `session_id of ${row.event_id}`).toBe(session)
    ids.set(row.session_id, session)
  }
  expect(new Set(ids.values()).size).toBe(ids.size)
}

const select = 'event_id,project_id,cookie_id,event_type,ts_millis,session_id,is_entry'
const whole = { start_ms: String(midnight - day), end_ms: String(midnight + 6 * day) }

async function everyRow(query: Record<string, string>): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await events.page({ select, limit: '10000', ...query, ...(cursor && { cursor }) })
    rows.push(...page.rows)
    cursor = page.meta.next_cursor
    if (cursor === undefined) return rows
  }
}

/** Steps from one event to the next: the same millisecond, below, exactly and over a rest, and hours. */
const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(rest - 1, rest, rest + 1) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 * minute }) },
  { weight: 1, arbitrary: fc.integer({ min: rest, max: 30 * 60 * minute }) },
)

/** A visitor who rests sometimes, and one who continues for days. */
const times = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: day }), fc.array(step, { minLength: 1, maxLength: 25 })),
  fc.tuple(
    fc.integer({ min: 0, max: day }),
    fc.array(fc.constantFrom(rest - 1, 29 * minute, 29 * minute, 29 * minute), {
      minLength: 60,
      maxLength: 200,
    }),
  ),
  // Midnights, to the millisecond.
  fc.tuple(
    fc.constantFrom(day - 1, day, day - rest, day - rest + 1),
    fc.array(fc.constantFrom(1, rest - 1, rest), { maxLength: 120 }),
  ),
)

const history = times.map(([start, steps]) => {
  let at = midnight + start
  return [at, ...steps.map((by) => (at += by))].filter((ms) => ms < midnight + 5 * day)
})

const typesOfEvents = ['page_view', 'click', 'scroll_depth']

describe('random histories', () => {
  test('are the sessions of the definition, in every window and page, whatever the order of arrival', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(history, fc.infiniteStream(fc.constantFrom(...typesOfEvents))), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.integer({ min: 0, max: 5 * day }),
        fc.integer({ min: 1, max: 60 }),
        async (visitors, from, limit) => {
          const project = randomUUID()
          const rows = visitors.flatMap(([at, types]) => {
            const cookie_id = randomUUID()
            return at.map((ts_millis) =>
              eventOf(0, 0, {
                project_id: project,
                cookie_id,
                ts_millis,
                event_type: types.next().value,
              }),
            )
          })
          // In any order, and in two pieces, of which the second is late.
          const shuffled = rows.toSorted((a, b) =>
            String(a.event_id) < String(b.event_id) ? -1 : 1,
          )
          const half = Math.ceil(shuffled.length / 2)
          await events.insertHits(shuffled.slice(0, half))
          const scope = { ...whole, project_id: project }
          const early = await everyRow(scope)
          expectVisits(early, expectedOf(early))
          await events.insertHits(shuffled.slice(half))
          const all = await everyRow(scope)
          const expected = expectedOf(all)
          expect(all).toHaveLength(rows.length)
          expectVisits(all, expected)

          // A page, and a window that begins in the middle of sessions, agree with the entire window.
          const known = new Map(all.map((row) => [row.event_id, row]))
          const part = { ...scope, start_ms: String(midnight + from) }
          const { rows: page } = await events.page({ ...part, select, limit: String(limit) })
          expect(page).toEqual(page.map(({ event_id }) => known.get(event_id)))
          const kinds = await everyRow({ ...part, distinct: 'session_id' })
          const entries = await everyRow({ ...part, filter: 'is_entry:eq:true' })
          const inPart = all.filter(({ ts_millis }) => Number(ts_millis) >= midnight + from)
          expect(entries).toEqual(inPart.filter(({ is_entry }) => is_entry))
          const newest = inPart.filter(
            ({ session_id }, index) =>
              inPart.findIndex((row) => row.session_id === session_id) === index,
          )
          expect(kinds).toEqual(newest)

          const counts = await events.get('events/web_event/counts', {
            ...part,
            distinct: 'session_id',
            group_by: 'is_entry',
          })
          const counted = counts.json().counts as Row[]
          for (const is_entry of [true, false]) {
            const those = inPart.filter((row) => row.is_entry === is_entry)
            expect(
              counted.find((group) => group.is_entry === is_entry) ?? { count: 0 },
            ).toMatchObject({
              count: those.length,
              ...(those.length > 0 && {
                distinct: new Set(those.map(({ session_id }) => session_id)).size,
              }),
            })
          }
        },
      ),
      randomRuns(4, 12),
    )
  }, 600_000)
})

describe('session_id and is_entry', () => {
  const project = randomUUID()
  const pixel = randomUUID()
  const visitor = randomUUID()
  const at = (minutes: number, more: Row = {}) =>
    eventOf(0, 0, {
      project_id: project,
      pixel_id: pixel,
      cookie_id: visitor,
      ts_millis: midnight + minutes * minute,
      ...more,
    })
  const read = (query: Record<string, string> = {}) =>
    everyRow({
      ...whole,
      project_id: project,
      select: 'event_id,ts_millis,session_id,is_entry',
      ...query,
    })
  const sessionAt = async (minutes: number) =>
    (await read()).find(({ ts_millis }) => ts_millis === midnight + minutes * minute)?.session_id

  test('stay as they are when later events arrive, and join two sessions when one fills the rest', async () => {
    await events.insertHits([at(600, { event_type: 'click' }), at(610), at(650)])
    const [first, second] = [await sessionAt(600), await sessionAt(650)]
    expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(second).not.toBe(first)
    expect((await read()).map(({ is_entry }) => is_entry)).toEqual([true, true, false])
    await events.insertHits([at(670)])
    expect([await sessionAt(600), await sessionAt(650), await sessionAt(670)]).toEqual([
      first,
      second,
      second,
    ])
    await events.insertHits([at(630)])
    expect(new Set((await read()).map(({ session_id }) => session_id))).toEqual(new Set([first]))
    await events.insertHits([at(590)])
    expect(await sessionAt(600)).not.toBe(first)
  })

  test('are null of DSP events, whatever cookie they name, and know no pixel', async () => {
    await events.insertHits([
      at(605, { source: 'svcdsp', campaign_id: 'c', event_type: 'click' }),
      at(606, { pixel_id: randomUUID(), event_type: 'click' }),
    ])
    const [dsp] = await read({ source: 'svcdsp' })
    expect(dsp).toMatchObject({ session_id: null, is_entry: null })
    expect(await read({ source: 'svcdsp', filter: `session_id:ne:${randomUUID()}` })).toHaveLength(
      1,
    )
    expect(await sessionAt(606)).toBe(await sessionAt(600))
    const ofPixel = await read({ pixel_id: pixel, filter: 'is_entry:eq:true' })
    expect(ofPixel).toMatchObject([{ ts_millis: midnight + 590 * minute }])
  })

  test('are found by value, and together with a hundred other fields, profiles among them', async () => {
    const session = String(await sessionAt(600))
    const hem = 'ab'.repeat(32)
    await events.know({
      links: [linkOf(visitor, hem)],
      profiles: [{ hem, first_name: 'Ada', updated_at: new Date().toISOString() }],
    })
    const names = selectableAt('resolution_full_profile').map(({ name }) => name)
    expect(names.length).toBeGreaterThan(100)
    const query = {
      ...whole,
      project_id: project,
      select: names.join(','),
      filter: `session_id:eq:${session},is_entry:eq:true`,
    }
    const { rows } = await events.page(query, {}, 'resolution_full_profile')
    expect(rows).toHaveLength(1)
    expect(Object.keys(rows[0]!)).toEqual(names)
    expect(rows[0]).toMatchObject({
      session_id: session,
      is_entry: true,
      first_name: 'Ada',
      hem,
      resolved: true,
    })
    const { filter: _, ...unfiltered } = query
    const all = await events.page(unfiltered, {}, 'resolution_full_profile')
    expect(all.rows.filter(({ session_id }) => session_id === session)).toContainEqual(rows[0])
    const people = await events.page(
      { ...query, distinct: 'session_id,first_name', filter: 'first_name:eq:Ada' },
      {},
      'resolution_full_profile',
    )
    expect(people.rows.map(({ session_id }) => session_id)).toContain(session)
  })

  test('are the same in NDJSON and CSV', async () => {
    const query = { ...whole, project_id: project, select: 'session_id,is_entry,page_url' }
    const { rows } = await events.page(query)
    const ndjson = await events.get('events/web_event', query, { accept: 'application/x-ndjson' })
    expect(
      ndjson.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows)
    const csv = await events.get('events/web_event', query, { accept: 'text/csv' })
    expect(csv.body.trim().split('\n').slice(1)).toEqual(
      rows.map((row) => [`"${row.session_id}"`, String(row.is_entry), `"${row.page_url}"`].join()),
    )
  })

  test('are the same at versions 1 and 2, in counts and estimates', async () => {
    const window = { start_ms: String(midnight), end_ms: String(midnight + day) }
    const scope = { ...window, project_id: project }
    const wanted = await read(window)
    const get = async (path: string, query: object) => {
      const answer = await events.app.inject({
        url: `/api/${path}?${new URLSearchParams({ ...scope, ...query })}`,
      })
      expect([path, answer.statusCode, answer.body.slice(0, 300)]).toMatchObject([
        path,
        200,
        expect.anything(),
      ])
      return answer.json()
    }
    for (const path of ['v1/events', 'v2/events']) {
      const { rows } = await get(path, {
        select: 'event_id,ts_millis,session_id,is_entry',
        limit: 1000,
      })
      expect(rows).toEqual(wanted)
      const { rows: entries } = await get(path, { select: 'event_id', filter: 'is_entry:eq:true' })
      expect(entries).toHaveLength(wanted.filter(({ is_entry }) => is_entry).length)
    }
    const counts = await get('v1/event_counts', { distinct: 'session_id' })
    const sessions = new Set(wanted.map(({ session_id }) => session_id)).size
    expect(counts.counts).toEqual([{ count: wanted.length, distinct: sessions }])
    const { estimate } = await get('v1/events/scan_estimate', { select: 'session_id' })
    expect(estimate.rows).toBeGreaterThan(0)
  })

  test('are selected of visitors, by whom they are filtered, too', async () => {
    const query = {
      ...whole,
      project_id: project,
      limit: '10',
      select: 'ts_millis,session_id,is_entry',
    }
    const visitors = async (more: object) =>
      (await events.get('events/resolution_hem/visitors', { ...query, ...more })).json().visitors
    const [newest] = await read()
    const { ts_millis, session_id, is_entry } = newest!
    expect(await visitors({})).toEqual([{ ts_millis, session_id, is_entry }])
    expect(await visitors({ filter: 'is_entry:eq:true' })).toEqual([
      { ts_millis: midnight + 590 * minute, session_id: await sessionAt(590), is_entry: true },
    ])
  })

  test('are refused as groups of counts (session_id) and as what they are not', async () => {
    const status = async (query: Record<string, string>) =>
      (await events.get('events/web_event/counts', query)).json().error
    expect(
      (await events.get('events/web_event/counts', { group_by: 'session_id' })).statusCode,
    ).toBe(400)
    expect(await status({ filter: 'session_id:eq:x' })).toBeDefined()
    expect(await status({ filter: "is_entry:eq:'; DROP TABLE events" })).toBeDefined()
  })

  test('are in no row that does not name them, and in every schema, which says so', async () => {
    await events.insertHits([eventOf(Date.now(), 1000, { project_id: project })])
    const { rows } = await events.page({ project_id: project })
    expect(rows).toHaveLength(1)
    expect(rows[0]).not.toHaveProperty('session_id')
    expect(rows[0]).not.toHaveProperty('is_entry')
    for (const path of ['/api/v3/events/web_event/schema', '/api/v3/events_schema']) {
      const { fields } = (await events.app.inject({ url: path })).json()
      expect(
        fields.filter((field: Row) => field.only_when_named).map((field: Row) => field.name),
      ).toEqual(['session_id', 'is_entry'])
    }
  })

  test('are null while the event is not in hits', async () => {
    const waiting = randomUUID()
    // Hits are of events that have arrived.
    const received_at = new Date(Date.now() + day).toISOString()
    await events.insert([at(0, { project_id: waiting, received_at })])
    const query = { ...whole, project_id: waiting, select: 'event_id,session_id,is_entry' }
    expect((await events.page(query)).rows).toMatchObject([{ session_id: null, is_entry: null }])
    const { rows } = await events.page({ ...query, filter: 'is_entry:eq:true' })
    expect(rows).toEqual([])
  })

  test('are of the caller’s organization alone', async () => {
    const other = {
      organization_id: randomUUID(),
      cookie_id: randomUUID(),
      ts_millis: midnight + 580 * minute,
    }
    await events.insertHits([at(0, other)])
    expect(await read({ filter: 'is_entry:eq:true' })).toMatchObject([
      { ts_millis: midnight + 590 * minute },
    ])
    const theirs = await events.page(
      { ...whole, project_id: project, select: 'is_entry' },
      { 'x-organization': other.organization_id },
    )
    expect(theirs.rows).toEqual([{ is_entry: true }])
  })
})
