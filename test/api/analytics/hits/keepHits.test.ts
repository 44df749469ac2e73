import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keepHits } from '../../../../collector/analytics/hits/keepHits.ts'
import { rebuildHits } from '../../../../collector/analytics/hits/rebuildHits.ts'
import { requestComparison } from '../../../../collector/events/query/sessions.ts'
import { deleteWindows } from '../../../../collector/events/repair/windowDeletions.ts'
import { deleteExpired } from '../../../../collector/identity/privacy/privacyJobs.ts'
import { inTransaction } from '../../../../collector/platform/postgres/transaction.ts'
import {
  eventOf,
  openEvents,
  organizationId,
  pixelId,
  projectId,
  type Row,
} from '../../events/harness.ts'
import { dayMs, randomVisits, type Seen } from '../naiveSessions.ts'
import { seededNumbers } from '../seededNumbers.ts'

/** The job of hits, whatever the order in which events arrive, against hits that are built at once. */
let events: Awaited<ReturnType<typeof openEvents>>
const midnight = Math.floor(Date.now() / dayMs) * dayMs
const minuteMs = 60_000
beforeAll(async () => {
  // Each test begins with empty tables.
  events = await openEvents({ isAlone: true })
  await events.postgres.query(
    `WITH one AS (INSERT INTO organizations (organization_id, name) VALUES ($1, 'One')),
     shop AS (INSERT INTO projects (project_id, organization_id, name) VALUES ($2, $1, 'Shop'))
     INSERT INTO pixels (pixel_id, project_id, name, settings) VALUES ($3, $2, 'Shop', '{"retention_days": 7}')`,
    [organizationId, projectId, pixelId],
  )
})
afterAll(() => events.close())
beforeEach(async () => {
  await events.postgres.query('DELETE FROM hits_progress')
  for (const table of ['events', 'hits'])
    await events.clickhouse.live.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
})

/** Runs the job as if all events until this time had arrived. */
async function keepUntil(
  completeMs: number,
  { repairs = 0, nowMs = completeMs, beforeNote = async (): Promise<unknown> => undefined } = {},
) {
  await events.postgres.query('DELETE FROM collectors')
  await events.postgres.query(
    `INSERT INTO collectors (collector_id, hostname, complete_until_ms) VALUES ($1, 'test', $2)`,
    [randomUUID(), completeMs],
  )
  const lease = {
    inTransaction: async <T>(work: Parameters<typeof inTransaction<T>>[1]) => {
      await beforeNote()
      return inTransaction(events.postgres, work)
    },
  }
  const deps = { clickhouse: events.clickhouse.live, postgres: events.postgres }
  await keepHits(deps, lease, new AbortController().signal, { repairs, nowMs })
}

const readHits = () =>
  events.clickhouse.live.rows<Row>({
    sql: 'SELECT * FROM hits ORDER BY cookie_id, is_bot, ts_millis, event_key',
    params: {},
  })
const readRebuilt = async (projectIds: string[], atOnce?: number) => {
  await rebuildHits(events.clickhouse.live, projectIds, atOnce)
  return readHits()
}
const withoutLate = (rows: Row[]) => rows.map(({ is_late: _, ...row }) => row)

test('events that arrive in any order, after their repair, have the hits of events that are seen at once', async () => {
  const below = seededNumbers(3)
  const projects = [projectId, randomUUID(), randomUUID()]
  const visits = randomVisits(9, 120, midnight - 8 * dayMs).flatMap((visits, index) =>
    visits.map((event) => ({ ...event, project_id: projects[index % projects.length]! })),
  )
  const lateBy = () => [0, 0, 0, 40, 2_000, 50 * minuteMs, 30 * 60 * minuteMs][below(7)]!
  const arriving = visits
    .map((event): Seen & { at: number } => ({ ...event, at: event.ts_millis + lateBy() }))
    .sort((a, b) => a.at - b.at)
  const rows = arriving.map(({ at, ...event }) => ({
    ...event,
    received_at: new Date(at).toISOString(),
  }))
  for (let first = 0; first < rows.length; ) {
    const last = Math.min(first + 1 + below(rows.length / 4), rows.length)
    await events.insert(rows.slice(first, last))
    // Some runs repair, some do not.
    await keepUntil(arriving[last - 1]!.at, { repairs: below(3) === 0 ? 0 : Infinity })
    first = last
  }
  await keepUntil(arriving.at(-1)!.at + 1)
  const kept = withoutLate(await readHits())
  const rebuilt = withoutLate(await readRebuilt(projects))
  expect(kept.length).toBe(visits.length)
  expect(withoutLate(await readRebuilt(projects, visits.length / 5))).toEqual(rebuilt)
  for (const [index, hit] of kept.entries()) expect(hit).toEqual(rebuilt[index])
})

test('of the millisecond until which events are complete, events may follow', async () => {
  const at = midnight - dayMs
  const received = { received_at: new Date(at).toISOString() }
  await events.insert([{ ...eventOf(at, 0), ...received }])
  await keepUntil(at, { repairs: Infinity })
  await events.insert([{ ...eventOf(at, 0), ...received }])
  await keepUntil(at + 1, { repairs: Infinity })
  expect(await readHits()).toHaveLength(2)
})

test('a run that was cut off between its insert and its note is repeated, each event once', async () => {
  const at = midnight - dayMs
  await events.insert([eventOf(at, 0), eventOf(at, 5)])
  await keepUntil(at + 1_000, { repairs: Infinity })
  await events.insert([eventOf(at + 60_000, 0)])
  await keepUntil(at + 61_000, { repairs: Infinity })
  await events.postgres.query('UPDATE hits_progress SET appended_ms = $1, appending_ms = $2', [
    at + 1_000,
    at + 61_000,
  ])
  await keepUntil(at + 61_000, { repairs: Infinity })
  expect(await readHits()).toHaveLength(3)
})

test('hits that were dropped, deleted or doubled are built again', async () => {
  const at = midnight - 3 * dayMs
  const rows = Array.from({ length: 30 }, (_, n) => eventOf(at + n * dayMs * 0.05, 0))
  await events.insert(rows)
  await keepUntil(midnight)
  const { live } = events.clickhouse
  const all = await readHits()
  expect(all).toHaveLength(30)
  for (const damage of [
    'TRUNCATE TABLE hits',
    `DELETE FROM hits WHERE ts_millis < ${at + dayMs}`,
    'INSERT INTO hits SELECT * FROM hits LIMIT 7',
  ]) {
    await live.command({ sql: damage, params: {} })
    await events.postgres.query('UPDATE hits_progress SET compared_ms = 0')
    await keepUntil(midnight)
    expect(await readHits()).toEqual(all)
  }
})

test('a comparison that is asked for while the job runs is made, also while complete_until stands still', async () => {
  const at = midnight - 3 * dayMs
  const old = eventOf(at, 0)
  await events.insert([eventOf(at + dayMs, 0)])
  await keepUntil(midnight)
  await events.insert([old])
  let asks = 1
  await keepUntil(midnight + 1_000, {
    beforeNote: async () => asks-- > 0 && requestComparison(events.postgres),
  })
  expect(await readHits()).toHaveLength(2)

  await events.insert([eventOf(at, 1)])
  await requestComparison(events.postgres)
  await keepUntil(midnight + 1_000, { repairs: minuteMs, nowMs: midnight + 12_000 })
  expect(await readHits()).toHaveLength(3)
})

test('hits follow the deletion of their events', async () => {
  const at = midnight - 3 * dayMs
  const cookie_id = randomUUID()
  await events.insert([
    eventOf(at, 0, { cookie_id }),
    eventOf(at + 1_000, 0, { cookie_id, event_type: 'click' }),
    eventOf(at + 2_000, 0, { cookie_id }),
  ])
  await keepUntil(midnight)
  await events.postgres.query(
    `INSERT INTO event_window_deletions (deletion_id, organization_id, project_id, start_ms, end_ms, filter, events, requested_at)
     VALUES ($1, $2, $3, $4, $5, 'event_type:eq:click', 1, now())`,
    [randomUUID(), organizationId, projectId, at, at + dayMs],
  )
  const deps = { clickhouse: events.clickhouse.live, postgres: events.postgres }
  await expect.poll(() => deleteWindows(deps), { timeout: 60_000 }).toBe(false)
  await keepUntil(midnight)
  expect(await readHits()).toMatchObject([
    { session_event: 1, session_page: 1 },
    { session_event: 2, session_page: 2, session_gap_ms: 2_000 },
  ])
})

test('a visitor who returns from a host of the project goes on with the session, also when it is built again', async () => {
  const setHosts = (hosts: string[]) =>
    events.postgres.query('UPDATE projects SET transit_hosts = $2 WHERE project_id = $1', [
      projectId,
      hosts,
    ])
  await setHosts(['login.bank.example'])
  const at = midnight - 3 * dayMs
  const visit = (cookie_id: string, host: string) => [
    eventOf(at, 0, { cookie_id }),
    eventOf(at + minuteMs, 0, { cookie_id, referrer_url: `https://${host}/back` }),
  ]
  await events.insert([
    ...visit('11111111-0000-4000-8000-000000000000', 'login.bank.example'),
    ...visit('22222222-0000-4000-8000-000000000000', 'news.example'),
  ])
  await keepUntil(midnight)
  const sessions = async () => (await readHits()).map(({ session_event }) => session_event)
  expect(await sessions()).toEqual([1, 2, 1, 1])
  await events.clickhouse.live.command({ sql: 'TRUNCATE TABLE hits', params: {} })
  await requestComparison(events.postgres)
  await keepUntil(midnight)
  expect(await sessions()).toEqual([1, 2, 1, 1])
  await setHosts([])
})

test('of a session in which the kept days begin, the rest is a session', async () => {
  const at = midnight - 7 * dayMs
  const cookie_id = randomUUID()
  await events.insert([
    eventOf(at - minuteMs, 0, { cookie_id }),
    eventOf(at + minuteMs, 0, { cookie_id }),
    eventOf(at + 2 * minuteMs, 0, { cookie_id }),
  ])
  await keepUntil(midnight)
  await deleteExpired(events.postgres, events.clickhouse.live, midnight)
  await expect.poll(readHits, { timeout: 60_000 }).toEqual([])
  await keepUntil(midnight + 60 * minuteMs)
  expect(await readHits()).toMatchObject([
    { session_ms: 0, session_event: 1, session_page: 1 },
    { session_ms: minuteMs, session_event: 2, session_page: 2 },
  ])
})
