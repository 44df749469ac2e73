import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOrganization } from '../../harness/owners.ts'
import { openEvents, organizationId, projectId } from '../events/harness.ts'
import { groupsBy, isView, randomVisits, type Seen } from './naiveSessions.ts'

/** Figures by local days, against the local dates that Intl gives each event. Both times that clocks change are in it. */
let events: Awaited<ReturnType<typeof openEvents>>
const visits = [Date.UTC(2026, 2, 6), Date.UTC(2026, 9, 30)].flatMap((from, index) =>
  randomVisits(index + 1, 150, from).map((visitor) => visitor.filter(({ is_bot }) => !is_bot)),
)

beforeAll(async () => {
  events = await openEvents()
  await events.insertHits(visits.flat())
  const { postgres } = events
  await storeOrganization(postgres, organizationId)
  await postgres.query(
    "INSERT INTO projects (project_id, organization_id, name, time_zone) VALUES ($1, $2, 'Shop', 'Asia/Kathmandu')",
    [projectId, organizationId],
  )
})
afterAll(() => events.close())

const get = (path: string, query: Record<string, string>) =>
  events.app.inject({
    url: `/api/v1/analytics/${path}?${new URLSearchParams({ project_id: projectId, ...query })}`,
  })

/** YYYY-MM-DD, and with hours the hour too. */
const localOf = (zone: string, withHour = false) => {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...(withHour && { hour: '2-digit', hourCycle: 'h23' }),
  })
  return (ms: number) => format.format(ms)
}
const totals = (seen: readonly Seen[] = []) => ({
  events: seen.length,
  visitors: new Set(seen.map(({ cookie_id }) => cookie_id)).size,
  page_views: seen.filter(isView).length,
})
const shifted = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)

const zones = ['UTC', 'America/Los_Angeles', 'Asia/Kathmandu', 'Europe/Berlin', 'Asia/Beirut']
const periods = [
  ['2026-03-05', '2026-03-14'],
  ['2026-10-29', '2026-11-08'],
] as const

describe.each(zones)('in %s', (time_zone) => {
  const dateOf = localOf(time_zone)

  test.each(periods)('days from %s to %s have the events of their dates', async (from, until) => {
    const answer = await get('timeseries', {
      time_zone,
      start_time: from,
      end_time: until,
      interval: 'day',
      compare: 'previous',
    })
    const { timeseries, previous, meta } = answer.json()
    expect(meta.time_zone).toBe(time_zone)
    expect(dateOf(meta.start_ms)).toBe(from)
    expect(dateOf(meta.start_ms - 1)).toBe(shifted(from, -1))
    const byDate = groupsBy(visits.flat(), ({ ts_millis }) => dateOf(ts_millis))
    const days = timeseries.length
    expect(days).toBe((Date.parse(until) - Date.parse(from)) / 86_400_000)
    for (const [index, { start_ms, ...point }] of timeseries.entries()) {
      const date = shifted(from, index)
      expect(dateOf(start_ms)).toBe(date)
      expect(point).toMatchObject(totals(byDate.get(date)))
      const { start_ms: same, ...earlier } = previous[index]
      expect(same).toBe(start_ms)
      expect(earlier).toMatchObject(totals(byDate.get(shifted(date, -days))))
    }
  })

  test.each(periods)('hours from %s to %s lose no event', async (from, until) => {
    const hourOf = localOf(time_zone, true)
    const query = { time_zone, start_time: from, end_time: until, compare: 'previous' }
    const { timeseries, previous, meta } = (
      await get('timeseries', { ...query, interval: 'hour' })
    ).json()
    const inside = visits
      .flat()
      .filter(({ ts_millis }) => ts_millis >= meta.start_ms && ts_millis < meta.end_ms)
    const byHour = groupsBy(inside, ({ ts_millis }) => hourOf(ts_millis))
    const found = groupsBy(timeseries as { start_ms: number; events: number }[], ({ start_ms }) =>
      hourOf(start_ms),
    )
    for (const [hour, seen] of byHour)
      expect(found.get(hour)?.reduce((sum, point) => sum + point.events, 0)).toBe(seen.length)
    const { previous: before } = (await get('overview', query)).json()
    expect(previous.reduce((sum: number, point: Seen) => sum + Number(point.events), 0)).toBe(
      before.events,
    )
  })

  test('cohorts of weeks begin on local Mondays and have the visitors of their dates', async () => {
    const { cohorts } = (
      await get('retention', {
        time_zone,
        start_time: '2026-10-26',
        end_time: '2026-11-23',
        interval: 'week',
      })
    ).json()
    const mondayOf = (date: string) =>
      shifted(date, -((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7))
    const began = groupsBy(
      visits.filter(([first]) => first && dateOf(first.ts_millis) >= '2026-10-26'),
      ([first]) => mondayOf(dateOf(first!.ts_millis)),
    )
    expect(cohorts).toHaveLength(4)
    for (const [index, { start_ms, visitors }] of cohorts.entries()) {
      expect(dateOf(start_ms)).toBe(shifted('2026-10-26', 7 * index))
      expect(dateOf(start_ms - 1)).toBe(shifted('2026-10-26', 7 * index - 1))
      expect(visitors).toBe(began.get(dateOf(start_ms))?.length ?? 0)
    }
  })
})

test('without time_zone the project’s zone holds', async () => {
  const { timeseries, meta } = (
    await get('timeseries', { start_time: '2026-10-30', end_time: '2026-11-02', interval: 'day' })
  ).json()
  expect(meta.time_zone).toBe('Asia/Kathmandu')
  expect(timeseries[0].start_ms).toBe(Date.UTC(2026, 9, 29, 18, 15))
})

test.each(['Mars/Olympus', '+05:45', ''])('time_zone=%s is refused and named', async (zone) => {
  const answer = await get('overview', { time_zone: zone })
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'time_zone' })
})
