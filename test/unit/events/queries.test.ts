import { describe, expect, test } from 'vitest'
import { countsQuery } from '../../../collector/events/countsQuery.ts'
import { encodeCursor } from '../../../collector/events/cursor.ts'
import { eventsQuery } from '../../../collector/events/eventsQuery.ts'
import { readCountsRequest, readEventsRequest } from '../../../collector/events/plan.ts'
import { fieldsAt } from '../../../schemas/fields.ts'

const now = 1_800_000_000_000
const organizationId = '00000000-0000-4000-8000-000000000001'
const projectId = '00000000-0000-4000-8000-000000000002'
const pixelId = '00000000-0000-4000-8000-000000000003'
const eventId = '00000000-0000-4000-8000-000000000004'
const wide = { organizationId, projectId: null, pixelId: null, campaignId: null }
const narrow = { organizationId, projectId, pixelId, campaignId: "O'Hara" }

const eventsPlan = (query: Record<string, string>, scope: typeof wide | typeof narrow = wide) => ({
  ...readEventsRequest({ query, headers: {} }, 'web_event', now).plan,
  scope,
})
const countsPlan = (query: Record<string, string>) => ({
  ...readCountsRequest({ query, headers: {} }, 'web_event', now).plan,
  scope: wide,
})
/** What a filter becomes, and what it binds. */
const conditionOf = (filter: string) => {
  const { sql, params } = eventsQuery(eventsPlan({ filter, select: 'event_id' }))
  const { p0, p1, p2, ...bound } = params
  return [/ts_millis < \{p2:Int64\}\n {2}AND (.*)\nORDER/s.exec(sql)![1], Object.values(bound).slice(0, -1)]
}

describe('a page', () => {
  test('without parameters is every field of the organization’s last 24 hours', () => {
    expect(eventsQuery(eventsPlan({}))).toEqual({
      sql: `SELECT ${fieldsAt('web_event')
        .map(({ name }) => name)
        .join(', ')}
FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p3:UInt32}`,
      params: { p0: organizationId, p1: now - 86_400_000, p2: now, p3: 101 },
    })
  })

  test('binds the whole scope, the source, the filters and the cursor', () => {
    const cursor = encodeCursor({ from: { tsMillis: 5, eventId }, window: { startMs: 1, endMs: 9 } })
    const query = {
      cursor,
      select: 'page_url,event_id',
      source: 'svcdsp',
      limit: '10000',
      filter: 'page_url:eq:x',
    }
    expect(eventsQuery(eventsPlan(query, narrow))).toEqual({
      sql: `SELECT page_url, event_id
FROM events
WHERE organization_id = {p0:UUID}
  AND project_id = {p1:UUID}
  AND pixel_id = {p2:UUID}
  AND campaign_id = {p3:String}
  AND source = {p4:String}
  AND ts_millis >= {p5:Int64}
  AND ts_millis < {p6:Int64}
  AND page_url = {p7:String}
  AND ts_millis <= {p8:Int64}
  AND (ts_millis, event_id) <= ({p8:Int64}, {p9:UUID})
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p10:UInt32}`,
      params: {
        p0: organizationId,
        p1: projectId,
        p2: pixelId,
        p3: "O'Hara",
        p4: 'svcdsp',
        p5: 1,
        p6: 9,
        p7: 'x',
        p8: 5,
        p9: eventId,
        p10: 10_001,
      },
    })
  })

  test('of distinct events decides over the whole window which are the newest', () => {
    const cursor = encodeCursor({ from: { tsMillis: 5, eventId }, window: { startMs: 1, endMs: 9 } })
    expect(eventsQuery(eventsPlan({ cursor, select: 'page_url', distinct: 'cookie_id,page_url' })).sql).toBe(
      `SELECT page_url
FROM (
SELECT page_url, ts_millis, event_id
FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
ORDER BY ts_millis DESC, event_id DESC
LIMIT 1 BY cookie_id, page_url
)
WHERE ts_millis <= {p3:Int64}
  AND (ts_millis, event_id) <= ({p3:Int64}, {p4:UUID})
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p5:UInt32}`,
    )
  })

  test('can carry the place of its last row in front of every row', () => {
    expect(
      eventsQuery(eventsPlan({ select: 'page_url' }), { leadsWithNext: true, hasMembers: false }).sql,
    ).toBe(
      `SELECT toString(min((ts_millis, event_id)) OVER ()) AS _next, page_url
FROM (
SELECT page_url, ts_millis, event_id
FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p3:UInt32}
)
ORDER BY ts_millis DESC, event_id DESC`,
    )
  })
})

describe('a filter becomes', () => {
  const text = (path: string) => `JSONExtract(event_data, ${path}, 'Nullable(String)')`
  test.each<[string, string, unknown[]]>([
    ['event_type:eq:click', 'event_type = {p3:String}', ['click']],
    ['event_type:ne:click', 'event_type != {p3:String}', ['click']],
    ['referrer_url:ne:x', '(referrer_url != {p3:String} OR referrer_url IS NULL)', ['x']],
    ['resolved:eq:true', 'resolved = {p3:Bool}', [true]],
    ['resolved:ne:true', '(resolved != {p3:Bool} OR resolved IS NULL)', [true]],
    [`event_id:eq:${eventId}`, 'event_id = {p3:UUID}', [eventId]],
    [`event_id:lte:${eventId}`, 'toString(event_id) <= {p3:String}', [eventId]],
    ['cookie_id:like:00%', 'toString(cookie_id) LIKE {p3:String}', ['00%']],
    ['ts_millis:gt:5', 'ts_millis > {p3:Int64}', ['5']],
    ['timestamp:gte:1970-01-02', 'ts_millis >= {p3:Int64}', [86_400_000]],
    ['received_at:lt:1970-01-02', "received_at < fromUnixTimestamp64Milli({p3:Int64}, 'UTC')", [86_400_000]],
    ['page_url:like:a\\%b\\c\\', 'page_url LIKE {p3:String}', ['a\\%b\\\\c\\\\']],
    ['page_url:like:\\\\', 'page_url LIKE {p3:String}', ['\\\\']],
    ["page_url:eq:'; DROP TABLE events; --", 'page_url = {p3:String}', ["'; DROP TABLE events; --"]],
    ['event_data.url:eq:x', `${text('{p3:String}')} = {p4:String}`, ['url', 'x']],
    [
      "event_data.element.a') OR 1:ne:x",
      `(${text('{p3:String}, {p4:String}')} != {p5:String} OR ${text('{p3:String}, {p4:String}')} IS NULL)`,
      ['element', "a') OR 1", 'x'],
    ],
    [
      'event_data.percentage:gte:50',
      "JSONExtract(event_data, {p3:String}, 'Nullable(Float64)') >= {p4:Float64}",
      ['percentage', 50],
    ],
    ['event_type:eq:a,browser:eq:b', 'event_type = {p3:String}\n  AND browser = {p4:String}', ['a', 'b']],
  ])('%s', (filter, sql, bound) => expect(conditionOf(filter)).toEqual([sql, bound]))
})

describe('counts', () => {
  test('without groups are one row', () => {
    expect(countsQuery(countsPlan({}))).toEqual({
      sql: `SELECT count() AS count, sum(count()) OVER () AS _total
FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
ORDER BY count DESC
LIMIT {p3:UInt32}`,
      params: { p0: organizationId, p1: now - 86_400_000, p2: now, p3: 1001 },
    })
  })

  test('are grouped by fields and by what is computed from them', () => {
    const query = { group_by: 'event_type,hour,day,url', distinct: 'cookie_id,page_host', limit: '5' }
    expect(countsQuery(countsPlan(query)).sql).toBe(
      `SELECT event_type, toStartOfHour(timestamp) AS hour, toDate(timestamp) AS day, page_url AS url, count() AS count, uniqExact(tuple(cookie_id, page_host)) AS \`distinct\`, sum(count()) OVER () AS _total
FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
GROUP BY event_type, hour, day, url
ORDER BY count DESC, event_type, hour, day, url
LIMIT {p3:UInt32}
SETTINGS optimize_injective_functions_inside_uniq = 0`,
    )
  })
})
