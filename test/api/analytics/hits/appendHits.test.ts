import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendHitsSql } from '../../../../collector/analytics/hits/appendHits.ts'
import { openEvents } from '../../events/harness.ts'
import { dayMs, randomVisits, type Seen, sessionsOf } from '../naiveSessions.ts'

/** Hits, appended at random, against a naive look at every event. */
let events: Awaited<ReturnType<typeof openEvents>>
const from = Math.floor(Date.now() / dayMs) * dayMs - 12 * dayMs
beforeAll(async () => {
  // Hits are appended for all projects.
  events = await openEvents({ isAlone: true })
})
afterAll(() => events.close())

interface Hit {
  cookie_id: string
  is_bot: boolean
  ts_millis: number
  session_ms: number
  session_event: number
  session_page: number
  session_gap_ms: number
  session_source: string
  session_channel: string
  session_referrer_host: string | null
  session_utm_campaign: string | null
  session_country: string | null
  session_device_type: string | null
}

/** The hits of a visitor's events by their sessions. */
function naiveHits(visitor: readonly Seen[]): Hit[] {
  return [true, false].flatMap((bots) =>
    sessionsOf(visitor.filter(({ is_bot }) => is_bot === bots)).flatMap(
      ({ events: seen, fields }) => {
        let page = 0
        return seen.map((event, index) => {
          const before = seen[index - 1]
          const gap = before && page > 0 ? event.ts_millis - before.ts_millis : 0
          if (event.event_type === 'page_view') page++
          return {
            cookie_id: event.cookie_id,
            is_bot: event.is_bot,
            ts_millis: event.ts_millis,
            session_ms: event.ts_millis - seen[0]!.ts_millis,
            session_event: index + 1,
            session_page: page,
            session_gap_ms: gap,
            session_source: fields.source!,
            session_channel: fields.channel!,
            session_referrer_host: fields.referrer_host!,
            session_utm_campaign: fields.utm_campaign!,
            session_country: fields.country!,
            session_device_type: fields.device_type!,
          }
        })
      },
    ),
  )
}

const readHits = () =>
  events.clickhouse.live.rows<Hit>({
    sql: `SELECT cookie_id, is_bot, ts_millis, session_ms, session_event, session_page, session_gap_ms,
      session_source, session_channel, session_referrer_host, session_utm_campaign, session_country, session_device_type
      FROM hits ORDER BY cookie_id, ts_millis`,
    params: {},
  })

test('hits have the sessions of a naive look at every event, appended in pieces', async () => {
  const visitors = randomVisits(5, 200, from)
  const all = visitors.flat().sort((a, b) => a.ts_millis - b.ts_millis)
  await events.insert(all)
  const { live } = events.clickhouse
  const pieces = [0, 0.1, 0.35, 0.36, 0.37, 0.8, 1].map(
    (part) => from + Math.round(part * 12 * dayMs),
  )
  for (const [index, until] of pieces.entries()) {
    if (index === 0) continue
    const at = pieces[index - 1]!
    await live.command({
      sql: appendHitsSql({
        isNew: `ts_millis >= ${at} AND ts_millis < ${until}`,
        isBefore: `ts_millis >= ${at - 1_800_000} AND ts_millis < ${until}`,
      }),
      params: { transitHosts: [] },
    })
  }
  const expected = visitors
    .flatMap(naiveHits)
    .sort((a, b) =>
      a.cookie_id === b.cookie_id ? a.ts_millis - b.ts_millis : a.cookie_id < b.cookie_id ? -1 : 1,
    )
  const found = (await readHits()).sort((a, b) =>
    a.cookie_id === b.cookie_id ? a.ts_millis - b.ts_millis : a.cookie_id < b.cookie_id ? -1 : 1,
  )
  expect(found.length).toBe(expected.length)
  for (const [index, hit] of found.entries()) expect(hit).toEqual(expected[index])
})
