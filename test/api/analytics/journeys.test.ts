import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { eventOf, openEvents, organizationId, projectId, type Row } from '../events/harness.ts'
import { seededNumbers } from './seededNumbers.ts'

/** Funnels, retention and journeys against a naive look at every visitor's events. */
let events: Awaited<ReturnType<typeof openEvents>>
const dayMs = 86_400_000
const minuteMs = 60_000
const midnight = Math.floor(Date.now() / dayMs) * dayMs
const start = midnight - 30 * dayMs
const paths = ['/', '/pricing', '/docs', '/signup', null]
const types = ['page_view', 'page_view', 'page_view', 'click', 'form_submission']

interface Seen extends Row {
  cookie_id: string
  event_type: string
  page_path: string | null
  ts_millis: number
}
/** By visitor, oldest first; no two events of one in the same millisecond. */
const visitors: Seen[][] = []

beforeAll(async () => {
  const below = seededNumbers(42)
  for (let visitor = 0; visitor < 60; visitor++) {
    const cookie_id = randomUUID()
    let at = start + below(20 * dayMs)
    const history: Seen[] = []
    for (let n = 1 + below(15); n > 0 && at < midnight; n--) {
      history.push(
        eventOf(at, 0, {
          cookie_id,
          event_type: types[below(5)],
          page_path: paths[below(5)],
        }) as Seen,
      )
      at += [1, minuteMs, 10 * minuteMs, 45 * minuteMs, dayMs, 5 * dayMs][below(6)]! + below(1_000)
    }
    visitors.push(history)
  }
  events = await openEvents()
  await events.insertHits(visitors.flat())
})
afterAll(() => events.close())

async function answerOf<T>(request: {
  method?: 'POST'
  url: string
  payload?: object
}): Promise<T> {
  const answer = await events.app.inject(request)
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json()
}
const get = <T>(path: string, query: Record<string, string>) =>
  answerOf<T>({
    url: `/api/v1/analytics/${path}?${new URLSearchParams({
      project_id: projectId,
      start_ms: String(start),
      end_ms: String(midnight),
      ...query,
    })}`,
  })

/** Filters, and their meaning. */
const conditions: Record<string, (event: Seen) => boolean> = {
  'event_type:eq:page_view': ({ event_type }) => event_type === 'page_view',
  'event_type:eq:form_submission': ({ event_type }) => event_type === 'form_submission',
  'page_path:eq:/pricing': ({ page_path }) => page_path === '/pricing',
  'page_path:like:/%': ({ page_path }) => page_path !== null,
  'page_path:ne:/docs': ({ page_path }) => page_path !== '/docs',
  'event_type:eq:page_view,page_path:eq:/': ({ event_type, page_path }) =>
    event_type === 'page_view' && page_path === '/',
}

interface VisitorsPage {
  visitors: {
    cookie_id: string
    steps_taken: number | null
    events: number
    first_ms: number
    last_ms: number
    pages: number
    source: string | null
    country: string | null
    device_type: string | null
  }[]
  next_cursor?: string
}

/** All visitors behind a figure, page by page, each page charged for its records. */
async function allVisitors(asked: object) {
  const found: VisitorsPage['visitors'] = []
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const answer = await events.app.inject({
      method: 'POST',
      url: '/api/v1/analytics/visitors',
      payload: {
        project_id: projectId,
        start_ms: start,
        end_ms: midnight,
        limit: 17,
        ...asked,
        ...(cursor && { cursor }),
      },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    const page = answer.json<VisitorsPage>()
    expect(answer.headers['x-footfall-charged']).toBe(String(page.visitors.length))
    found.push(...page.visitors)
    cursor = page.next_cursor
  }
  return found
}

const cookieOf = ([event]: readonly Seen[]) => event!.cookie_id

describe('funnels', () => {
  /** How many steps a visitor takes at most, tried from every event. */
  function stepsTaken(
    history: readonly Seen[],
    steps: readonly string[],
    withinMs: number,
  ): number {
    let most = 0
    for (const [from, first] of history.entries()) {
      if (!conditions[steps[0]!]!(first)) continue
      let taken = 1
      for (const event of history.slice(from + 1)) {
        if (event.ts_millis - first.ts_millis > withinMs) break
        if (taken < steps.length && conditions[steps[taken]!]!(event)) taken++
      }
      most = Math.max(most, taken)
    }
    return most
  }

  test('count the visitors of each step as a look at every visitor does', async () => {
    const funnel = fc.record({
      steps: fc.array(fc.constantFrom(...Object.keys(conditions)), { minLength: 2, maxLength: 4 }),
      withinMs: fc.constantFrom(5 * minuteMs, 60 * minuteMs, 7 * dayMs),
    })
    await fc.assert(
      fc.asyncProperty(funnel, async ({ steps, withinMs }) => {
        const { steps: found } = await answerOf<{ steps: { visitors: number }[] }>({
          method: 'POST',
          url: '/api/v1/analytics/funnel',
          payload: {
            project_id: projectId,
            start_ms: start,
            end_ms: midnight,
            steps,
            within_ms: withinMs,
          },
        })
        const taken = visitors.map((history) => stepsTaken(history, steps, withinMs))
        expect(found.map(({ visitors }) => visitors)).toEqual(
          steps.map((_, index) => taken.filter((most) => most > index).length),
        )
      }),
      { numRuns: 8, seed: 3 },
    )
  })

  test('count a step at the end of the time, and none a millisecond later', async () => {
    const project_id = randomUUID()
    const ofVisitor = { project_id, cookie_id: randomUUID(), page_path: '/' }
    const withinMs = 60 * minuteMs
    await events.insertHits([
      eventOf(start, 0, { ...ofVisitor, event_type: 'page_view' }),
      eventOf(start + withinMs, 0, { ...ofVisitor, event_type: 'click' }),
    ])
    // Both events meet the second of these.
    for (const second of ['event_type:eq:click', 'page_path:eq:/'])
      for (const within_ms of [withinMs, withinMs - 1]) {
        const { steps } = await answerOf<{ steps: { visitors: number }[] }>({
          method: 'POST',
          url: '/api/v1/analytics/funnel',
          payload: {
            project_id,
            start_ms: start,
            end_ms: midnight,
            steps: ['event_type:eq:page_view', second],
            within_ms,
          },
        })
        expect(steps.map(({ visitors }) => visitors)).toEqual([1, within_ms === withinMs ? 1 : 0])
      }
  })

  test('of steps that match the same events need little memory, however many a visitor has', async () => {
    const project_id = randomUUID()
    const cookie_id = randomUUID()
    const limited = await openEvents({ env: { FOOTFALL_READ_MEMORY_MB_MAX: '256' } })
    try {
      await limited.insertHits(
        Array.from({ length: 2_000 }, (_, n) =>
          eventOf(start, -n * 1_000, { project_id, cookie_id, event_type: 'page_view' }),
        ),
      )
      const steps = Array.from({ length: 9 }, () => 'event_type:eq:page_view')
      const answer = await limited.app.inject({
        method: 'POST',
        url: '/api/v1/analytics/funnel',
        payload: {
          project_id,
          start_ms: start,
          end_ms: midnight,
          steps: [...steps, 'event_type:eq:form_submission'],
          within_ms: dayMs,
        },
      })
      expect(answer.statusCode, answer.body).toBe(200)
      const found = answer.json<{ steps: { visitors: number }[] }>().steps
      expect(found.map(({ visitors }) => visitors)).toEqual([...steps.map(() => 1), 0])
    } finally {
      await limited.close()
    }
  })

  test('lead to exactly the visitors counted at a step, and to those who went no further', async () => {
    const steps = ['page_path:like:/%', 'page_path:ne:/docs', 'event_type:eq:form_submission']
    const withinMs = 60 * minuteMs
    const taken = visitors.map((history) => stepsTaken(history, steps, withinMs))
    for (const outcome of ['reached', 'dropped']) {
      for (const [index] of steps.entries()) {
        const step = index + 1
        const found = await allVisitors({ steps, within_ms: withinMs, step, outcome })
        const wanted = visitors.filter((_, at) =>
          outcome === 'reached' ? taken[at]! >= step : taken[at] === step,
        )
        expect(wanted.length).toBeGreaterThan(0)
        expect(found.map(({ cookie_id }) => cookie_id).sort()).toEqual(wanted.map(cookieOf).sort())
        for (const { cookie_id, steps_taken } of found)
          expect(steps_taken).toBe(
            taken[visitors.findIndex((history) => cookieOf(history) === cookie_id)],
          )
      }
    }
  })

  test.each([
    [{ steps: ['event_type:eq:click'] }, 'steps'],
    [{ steps: ['event_type:eq:click', 'hem:ne:x'] }, 'steps[1]'],
    [{ steps: ['nothing', 'event_type:eq:click'] }, 'steps[0]'],
    [{ steps: ['event_type:eq:click', 'event_type:eq:copy'], within_ms: 0 }, 'within_ms'],
  ])('%o is refused and named', async (body, parameter) => {
    const answer = await events.app.inject({
      method: 'POST',
      url: '/api/v1/analytics/funnel',
      payload: body,
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
  })
})

describe('visitors', () => {
  test('behind a filter are those whom the overview counts, with what they did', async () => {
    for (const [filter, meets] of Object.entries(conditions)) {
      const found = await allVisitors({ filter })
      const { overview } = await get<{ overview: { visitors: number; events: number } }>(
        'overview',
        {
          filter,
        },
      )
      expect(found).toHaveLength(overview.visitors)
      expect(found.reduce((sum, { events }) => sum + events, 0)).toBe(overview.events)
      for (const { cookie_id, steps_taken, first_ms, last_ms } of found) {
        const own = visitors.find((history) => cookieOf(history) === cookie_id)!.filter(meets)
        expect([steps_taken, first_ms, last_ms]).toEqual([
          null,
          own[0]!.ts_millis,
          own.at(-1)!.ts_millis,
        ])
      }
      // The visitor seen last comes first, over all pages.
      const seen = found.map(({ last_ms }) => last_ms)
      expect(seen).toEqual(seen.toSorted((one, other) => other - one))
    }
  })

  test('are listed with their pages, the source of the first session, and the place and device of the last', async () => {
    const [project_id, cookie_id, direct] = [randomUUID(), randomUUID(), randomUUID()]
    const [searched, mailed] = [randomUUID(), randomUUID()]
    const at = (agoMs: number, more: object) =>
      eventOf(midnight, agoMs, {
        project_id,
        cookie_id,
        page_host: 'shop.example',
        ...more,
      })
    await events.insertHits([
      at(2 * 60 * minuteMs, {
        referrer_url: 'https://search.example/',
        country: 'FR',
        device_type: 'tablet',
      }),
      at(8_000, {
        referrer_url: 'https://shop.example/',
        event_type: 'click',
        country: 'DE',
        device_type: 'mobile',
      }),
      at(7_000, { referrer_url: 'https://shop.example/', country: 'AT' }),
      at(6_000, { cookie_id: direct, referrer_url: 'https://shop.example/', country: null }),
      at(5_000, { cookie_id: searched, referrer_url: 'https://www.google.de/' }),
      at(4_000, { cookie_id: mailed, page_url: 'https://shop.example/?utm_source=newsletter' }),
    ])
    const found = await allVisitors({ project_id })
    expect(found).toMatchObject([
      { cookie_id: mailed, source: 'Newsletter' },
      { cookie_id: searched, source: 'Google' },
      { cookie_id: direct, pages: 1, source: null, country: null },
      {
        cookie_id,
        events: 3,
        pages: 2,
        source: 'search.example',
        country: 'DE',
        device_type: 'mobile',
      },
    ])
  })

  const steps = ['event_type:eq:click', 'event_type:eq:copy']
  test.each([
    [{ step: 1 }, 'step'],
    [{ outcome: 'dropped' }, 'outcome'],
    [{ within_ms: 5 }, 'within_ms'],
    [{ steps, step: 3 }, 'step'],
    [{ filter: 'hem:ne:x' }, 'filter'],
    [{ cursor: 'x' }, 'cursor'],
    [{ limit: 10_001 }, 'limit'],
  ])('%o is refused and named', async (body, parameter) => {
    const answer = await events.app.inject({
      method: 'POST',
      url: '/api/v1/analytics/visitors',
      payload: body,
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
  })
})

describe('retention', () => {
  test.each([
    ['day', undefined, undefined],
    ['week', undefined, undefined],
    ['week', 'page_path:eq:/pricing', 'event_type:eq:page_view'],
  ])(
    'by %s, first %s, returning %s: as a look at every visitor',
    async (interval, first, returning) => {
      const { cohorts } = await get<{
        cohorts: { start_ms: number; visitors: number; returned: number[] }[]
      }>('retention', { interval, ...(first && { first }), ...(returning && { returning }) })
      const lengthMs = interval === 'day' ? dayMs : 7 * dayMs
      const monday = interval === 'day' ? 0 : 4 * dayMs
      const indexOf = (ms: number) => Math.floor((ms - monday) / lengthMs)
      const began = visitors.flatMap((history) => {
        const from = history.find((event) => !first || conditions[first]!(event))
        return from ? [{ cohort: indexOf(from.ts_millis), history }] : []
      })
      for (const { start_ms, visitors, returned } of cohorts) {
        const cohort = indexOf(start_ms)
        expect(start_ms).toBe(cohort * lengthMs + monday)
        const members = began.filter((one) => one.cohort === cohort)
        expect(visitors).toBe(members.length)
        const expected = returned.map(
          (_, later) =>
            members.filter(
              ({ history }) =>
                later === 0 ||
                history.some(
                  (event) =>
                    indexOf(event.ts_millis) === cohort + later &&
                    (!returning || conditions[returning]!(event)),
                ),
            ).length,
        )
        expect(returned).toEqual(expected)
      }
      expect(cohorts.reduce((sum, { visitors }) => sum + visitors, 0)).toBe(began.length)
    },
  )
})

interface Link {
  step: number
  from_page: string | null
  to_page: string | null
  ends: boolean
  sessions: number
}

describe('journeys', () => {
  beforeAll(async () => {
    const { postgres } = events
    await storeOrganization(postgres, organizationId)
    await storeProject(postgres, projectId, organizationId)
    const saved = await events.app.inject({
      method: 'PUT',
      url: '/api/v1/analytics/goals',
      payload: {
        project_id: projectId,
        goals: [{ name: 'Asked', filter: 'event_type:eq:form_submission' }],
      },
    })
    expect(saved.statusCode, saved.body).toBe(200)
  })

  /** The pages of each session, in order, of the same one in a row the first. */
  function ways(): string[][] {
    const found: string[][] = []
    for (const history of visitors) {
      let before = Number.NEGATIVE_INFINITY
      let way: string[] = []
      for (const { ts_millis, event_type, page_path } of history) {
        if (ts_millis - before >= 30 * minuteMs) {
          way = []
          found.push(way)
        }
        before = ts_millis
        if (event_type === 'page_view' && page_path !== null && way.at(-1) !== page_path)
          way.push(page_path)
      }
    }
    return found.filter((way) => way.length > 0)
  }

  test.each([undefined, '/pricing'])('from %s are the steps of every session', async (from) => {
    const { links } = await get<{ links: Link[] }>('journeys', {
      steps: '3',
      pages: '50',
      ...(from && { start: from }),
    })
    const expected = new Map<string, number>()
    for (const way of ways()) {
      const begun = from ? (way.includes(from) ? way.slice(way.indexOf(from)) : []) : way
      for (const [index, page] of begun.slice(0, 3).entries()) {
        const key = JSON.stringify([index + 1, page, begun[index + 1] ?? null])
        expected.set(key, (expected.get(key) ?? 0) + 1)
      }
    }
    expect(
      new Map(
        links.map(({ step, from_page, to_page, sessions }) => [
          JSON.stringify([step, from_page, to_page]),
          sessions,
        ]),
      ),
    ).toEqual(expected)
    for (const { to_page, ends } of links) expect(ends).toBe(to_page === null)
  })

  interface Ends {
    start?: string
    end?: string
    goal?: string
  }
  /** The places of each session: pages, and the goal where an event reaches it. */
  function placesOf(goal?: (event: Seen) => boolean): string[][] {
    const found: string[][] = []
    for (const history of visitors) {
      let before = Number.NEGATIVE_INFINITY
      let way: string[] = []
      for (const event of history) {
        if (event.ts_millis - before >= 30 * minuteMs) {
          way = []
          found.push(way)
        }
        before = event.ts_millis
        const place = goal?.(event)
          ? 'Asked'
          : event.event_type === 'page_view'
            ? event.page_path
            : null
        if (place !== null && way.at(-1) !== place) way.push(place)
      }
    }
    return found
  }

  test.each<[Ends]>([
    [{ end: '/signup' }],
    [{ start: '/pricing', end: '/signup' }],
    [{ goal: 'Asked' }],
    [{ start: '/docs', goal: 'Asked' }],
  ])('that end, %o, are the last steps of every session before that', async (ends) => {
    const { links } = await get<{ links: Link[] }>('journeys', { steps: '2', pages: '50', ...ends })
    const expected = new Map<string, number>()
    const last = ends.end ?? ends.goal!
    for (const way of placesOf(
      ends.goal ? conditions['event_type:eq:form_submission'] : undefined,
    )) {
      const from = ends.start ? way.indexOf(ends.start) : 0
      const to = way.indexOf(last, from)
      if (from < 0 || to < 0) continue
      const journey = way.slice(from, to + 1).slice(-3)
      for (const [index, page] of journey.entries()) {
        const step = 3 - journey.length + index + 1
        const key = JSON.stringify([step, page, journey[index + 1] ?? null])
        expected.set(key, (expected.get(key) ?? 0) + 1)
      }
    }
    expect(expected.size).toBeGreaterThan(1)
    expect(
      new Map(
        links.map(({ step, from_page, to_page, sessions }) => [
          JSON.stringify([step, from_page, to_page]),
          sessions,
        ]),
      ),
    ).toEqual(expected)
    for (const { step, ends } of links) expect(ends).toBe(step === 3)
  })

  test('an end is a page or a goal of the project, not both', async () => {
    for (const query of [{ end: '/signup', goal: 'Asked' }, { goal: 'Nothing' }]) {
      const answer = await events.app.inject({
        url: `/api/v1/analytics/journeys?${new URLSearchParams({ project_id: projectId, ...query })}`,
      })
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'goal' })
    }
  })

  test('tell apart as many pages as are asked for, and lose no session among the others', async () => {
    const { links } = await get<{ links: Link[] }>('journeys', { steps: '2', pages: '1' })
    const starts = links.filter(({ step }) => step === 1)
    expect(new Set(starts.map(({ from_page }) => from_page)).size).toBe(2)
    expect(starts.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(ways().length)
  })
})
