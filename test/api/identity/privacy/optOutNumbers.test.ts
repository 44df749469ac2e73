/** An opt-out applies to every number and every row alike, charged or free, and removing it restores both. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { waitFor } from '../../../harness/service.ts'
import type { Json } from '../../accounts/harness.ts'
import { openPrivacy, type Privacy } from './harness.ts'

let it: Privacy
let owner: Awaited<ReturnType<Privacy['openStranger']>>
beforeAll(async () => {
  it = await openPrivacy()
  owner = await it.openStranger()
  await waitFor('the pixel', async () => (await it.visit(owner.pixel, randomUUID())) === 1)
})
afterAll(() => it.close())

const optOuts = '/api/v1/privacy/opt-outs'
const minutes = 60_000

/** Every number and free row that says whether a browser's owner is known. */
async function numbersOf(cookie: string) {
  const startMs = Date.now() - 10 * minutes
  const endMs = Date.now() + 10 * minutes
  const window = `project_id=${owner.project}&start_ms=${startMs}&end_ms=${endMs}`
  const get = (path: string) => it.done(owner.key, `GET ${path}`)
  const ofCookie = `filter=cookie_id:eq:${cookie}`
  const known = `${ofCookie},resolved:eq:true`
  const [row] = (await get(`/api/v3/events/web_event?${window}&${ofCookie}&select=event_id`)).rows
  const [counts, counted, v1, people, index, breakdown, overview, trace, statistics, lookup] =
    await Promise.all([
      get(`/api/v3/events/web_event/counts?${window}&${ofCookie}&group_by=resolved`),
      get(`/api/v3/events/web_event/counts?${window}&${known}&distinct=cookie_id`),
      get(`/api/v1/event_counts?${window}&${known}`),
      get(
        `/api/v1/event_counts?${window}&${ofCookie},hem:ne:${'0'.repeat(64)},resolved:eq:true&distinct=hem`,
      ),
      get(`/api/v1/event_counts_index?${window}&${known}`),
      get(`/api/v1/analytics/breakdown?${window}&${ofCookie}&dimensions=resolved,pixel_id`),
      get(`/api/v1/analytics/overview?${window}&${known}`),
      get(`/api/v1/events/${row.event_id}/trace`),
      get(`/api/v1/resolution/statistics?${window}`),
      get(`/api/v1/lookup/cookie?cookie_id=${cookie}`),
    ])
  const steps = [`cookie_id:eq:${cookie},resolved:eq:true`, 'event_type:eq:click']
  const body = { project_id: owner.project, start_ms: startMs, end_ms: endMs, steps }
  const funnel = await it.done(owner.key, 'POST /api/v1/analytics/funnel', body)
  return {
    counts: counts.counts,
    counted: counted.counts,
    v1: v1.counts,
    people: people.counts,
    index: index.index.map(({ count }: Json) => count),
    breakdown: breakdown.breakdowns,
    overview: overview.overview.events,
    funnel: funnel.steps.map(({ visitors }: Json) => visitors),
    trace: trace.stored.map(({ resolved }: Json) => resolved),
    statistics: statistics.total,
    lookup: lookup.matched,
    exported: await exportedOf(cookie),
  }
}

/** `resolved` of each event in the export of a browser, which is text: a JSON object on each line. */
async function exportedOf(cookie: string): Promise<unknown[]> {
  const answer = await fetch(`${it.url}/api/v1/privacy/subject?cookie_id=${cookie}`, {
    headers: { ...owner.key },
  })
  const lines = (await answer.text()).trim().split('\n')
  return lines.flatMap((line) => {
    const { kind, data } = JSON.parse(line)
    return kind === 'event' ? [data.resolved] : []
  })
}

/** A browser with an event here, which belongs to somebody by a link of the graph or of the organization's own. */
async function visitor(by: 'graph' | 'own') {
  const [email, otherEmail] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`]
  const cookie = randomUUID()
  await it.loadTwoAddresses([email, otherEmail])
  const hem = hemOf(email)
  expect(await it.visit(owner.pixel, cookie, by === 'own' ? { hem } : {})).toBe(1)
  if (by === 'graph') await it.linkForAll(cookie, hem)
  await it.shown(owner.key, cookie, [hem])
  await it.figured(cookie)
  return { email, otherEmail, hem, cookie }
}

test.each([
  ['graph', 'otherEmail'],
  ['own', 'email'],
] as const)(
  'every number and row hides somebody whom a link of %s names after the opt-out of their %s',
  async (by, which) => {
    const { hem, cookie, ...addresses } = await visitor(by)
    const email = addresses[which]
    const before = await numbersOf(cookie)
    expect(before).toMatchObject({
      counts: [{ resolved: true, count: 1 }],
      counted: [{ count: 1, distinct: 1 }],
      v1: [{ count: 1 }],
      people: [{ count: 1, distinct: 1 }],
      index: [1],
      breakdown: { resolved: { values: [{ value: 'true', visitors: 1 }] } },
      overview: 1,
      funnel: [1, 0],
      trace: [true],
      lookup: true,
      exported: [true],
    })

    await it.done(owner.key, `POST ${optOuts}`, { email })
    await it.shown(owner.key, cookie, [null])
    const during = await numbersOf(cookie)
    expect(during).toMatchObject({
      counts: [{ resolved: false, count: 1 }],
      counted: [{ count: 0, distinct: 0 }],
      v1: [{ count: 0 }],
      people: [{ count: 0, distinct: 0 }],
      index: [],
      breakdown: { resolved: { values: [{ value: 'false', visitors: 1 }] } },
      overview: 0,
      funnel: [0, 0],
      trace: [false],
      lookup: false,
      exported: [false],
    })
    expect(during.statistics.resolved_events).toBe(before.statistics.resolved_events - 1)
    const rows = `GET /api/v3/events/web_event?filter=cookie_id:eq:${cookie}`
    const { rows: shown } = await it.done(owner.key, `${rows}&select=resolved`)
    expect(shown).toEqual([{ resolved: false }])
    expect(await it.done(owner.key, `${rows},resolved:eq:true`)).toMatchObject({ rows: [] })
    const asked = { project_id: owner.project, filter: `cookie_id:eq:${cookie},resolved:eq:true` }
    const visitors = await it.done(owner.key, 'POST /api/v1/analytics/visitors', asked)
    expect(visitors.visitors).toEqual([])
    const ofHem = `GET /api/v3/events/resolution_hem?filter=hem:eq:${hem}&select=cookie_id`
    expect(await it.done(owner.key, ofHem)).toMatchObject({ rows: [] })

    await it.done(owner.key, `DELETE ${optOuts}`, { email })
    await it.shown(owner.key, cookie, [hem])
    expect(await numbersOf(cookie)).toEqual(before)
  },
)

test('a browser that is identified after the opt-out of another address of its person is not resolved', async () => {
  const { email, otherEmail, hem, cookie } = await visitor('own')
  await it.done(owner.key, `POST ${optOuts}`, { email: otherEmail })
  await it.shown(owner.key, cookie, [null])
  const later = randomUUID()
  for (let n = 0; n < 3; n++) expect(await it.visit(owner.pixel, later, { hem })).toBe(1)
  await it.shown(owner.key, later, [null])
  await it.figured(later)
  expect(await numbersOf(later)).toMatchObject({ counts: [{ resolved: false }], overview: 0 })
  await it.done(owner.key, `DELETE ${optOuts}`, { email: otherEmail })
  await it.shown(owner.key, later, [hemOf(email)])
})

test('whether events are accepted does not tell which browsers the graph knows as theirs', async () => {
  const { email, cookie } = await visitor('graph')
  const own = randomUUID()
  await it.visit(owner.pixel, own, { hem: hemOf(email) })
  await it.shown(owner.key, own, [hemOf(email)])
  await it.done(owner.key, `POST ${optOuts}`, { email })
  await it.shown(owner.key, cookie, [null])
  // From then on the list has the person's browsers too.
  await waitFor('the list', async () => (await it.visit(owner.pixel, own)) === 0)
  for (let n = 0; n < 4; n++) expect(await it.visit(owner.pixel, cookie)).toBe(1)
  expect(await it.hemsOf(owner.key, cookie)).toEqual([null])
})
