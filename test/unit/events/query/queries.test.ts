import { describe, expect, test } from 'vitest'
import type { Scope } from '../../../../collector/api/access/policy.ts'
import { countsQuery } from '../../../../collector/events/query/counts/counts.ts'
import {
  CountsQuery,
  readCountsRequest,
} from '../../../../collector/events/query/counts/countsPlan.ts'
import type { Cursor } from '../../../../collector/events/query/page/cursor.ts'
import { eventsQuery } from '../../../../collector/events/query/page/eventsQuery.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../../../collector/events/query/page/parseEventsRequest.ts'
import { plainEncoding } from '../../../../collector/events/query/page/rowEncoding.ts'
import { hemsOfProfile, profileOf } from '../../../../collector/identity/store/personSql.ts'
import { fieldsAt, hemNumber, isProfileField, type Tier } from '../../../../schemas/fields.ts'
import { checkedQuery } from '../../../harness/checkedQuery.ts'

const now = 1_800_000_000_000
const organizationId = '00000000-0000-4000-8000-000000000001'
const projectId = '00000000-0000-4000-8000-000000000002'
const pixelId = '00000000-0000-4000-8000-000000000003'
const eventId = '00000000-0000-4000-8000-000000000004'
const wide = { organizationId, projectId: null, pixelId: null, campaignId: null }
const narrow = { organizationId, projectId, pixelId, campaignId: "O'Hara" }

/** The stored value of the column of pixels without one. */
const noPixel = "toUUID('00000000-0000-0000-0000-000000000000')"

const parse = (query: Record<string, string>, tier: Tier, readCursor: (text: string) => Cursor) =>
  parseEventsRequest({ query: checkedQuery(EventsQuery, query) }, tier, now, readCursor).plan

/** Of both sources, unless the query names one. A cursor continues the same question. */
const eventsPlan = (
  query: Record<string, string>,
  scope: Scope = wide,
  tier: Tier = 'web_event',
) => ({
  ...parse(query, tier, (text) => {
    const { cursor: _, ...first } = query
    return { ...JSON.parse(text), question: parse(first, tier, JSON.parse).question }
  }),
  ...(query.source === undefined && { source: null }),
  scope,
})
const countsPlan = (query: Record<string, string>, scope: Scope = wide) => ({
  ...readCountsRequest({ query: checkedQuery(CountsQuery, query) }, now).plan,
  source: null,
  scope,
})
/** The SQL of a filter, and its bound values. */
const conditionOf = (filter: string, tier: Tier = 'web_event') => {
  const { sql, params } = eventsQuery(eventsPlan({ filter, select: 'event_id' }, wide, tier))
  const { p0, p1, p2, ...bound } = params
  return [
    /ts_millis < \{p2:Int64\}\n {2}AND (.*)\nORDER/s.exec(sql)![1],
    Object.values(bound).slice(0, -1),
  ]
}

describe('a page', () => {
  test('without parameters is every field of the organization’s last 24 hours', () => {
    expect(eventsQuery(eventsPlan({}))).toEqual({
      sql: `SELECT ${fieldsAt('web_event')
        .map(({ name }) =>
          name === 'pixel_id' ? `nullIf(pixel_id, ${noPixel}) AS pixel_id` : name,
        )
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

  test('of events of pixels reads the stored pixel', () => {
    expect(eventsQuery(eventsPlan({ source: 'pixel', select: 'pixel_id' })).sql).toMatch(
      /^SELECT pixel_id\nFROM/,
    )
  })

  test('of several projects reads up to the last of the times that each has to offer', () => {
    const two = { ...wide, projectIds: [projectId, pixelId] }
    const sqlOf = (query: Record<string, string>, scope: Scope, tier: Tier = 'web_event') =>
      eventsQuery(eventsPlan({ select: 'event_id', ...query }, scope, tier)).sql
    const ofEach = (direction: string) =>
      ['p7', 'p8'].map(
        (id) => `(SELECT ts_millis FROM events
WHERE organization_id = {p0:UUID}
  AND project_id IN ({p1:UUID}, {p2:UUID})
  AND ts_millis >= {p3:Int64}
  AND ts_millis < {p4:Int64}
  AND project_id = {${id}:UUID}
ORDER BY ts_millis${direction} LIMIT {p6:UInt32})`,
      )
    for (const [order, direction, op, last] of [
      ['desc', ' DESC', '>=', 'min'],
      ['asc', '', '<=', 'max'],
    ] as const) {
      expect(sqlOf({ order }, two)).toContain(`
  AND ts_millis ${op} (SELECT ${last}(ts_millis) FROM (SELECT ts_millis FROM (
${ofEach(direction).join('\nUNION ALL\n')}
) ORDER BY ts_millis${direction} LIMIT {p6:UInt32}))
ORDER BY ts_millis${direction}, event_id${direction}`)
    }
    const many = { ...wide, projectIds: Array.from({ length: 33 }, () => projectId) }
    const full = 'resolution_full_profile'
    for (const sql of [
      sqlOf({}, wide),
      sqlOf({}, many),
      sqlOf({ distinct: 'cookie_id' }, two),
      sqlOf({ order: 'received' }, two),
      sqlOf({ filter: 'is_entry:eq:true' }, two),
      sqlOf({ filter: 'job_title:eq:x' }, two, full),
    ])
      expect(sql).not.toContain('UNION ALL')
  })

  test('of several projects ends at its span where it has one', () => {
    const two = { ...wide, projectIds: [projectId, pixelId] }
    for (const [order, op, end] of [
      ['desc', '>=', now - 5],
      ['asc', '<=', now - 86_400_000 + 5],
    ] as const) {
      const { sql, params } = eventsQuery({
        ...eventsPlan({ order, select: 'event_id' }, two),
        spanMs: 5,
      })
      expect(sql).toContain(`\n  AND ts_millis ${op} {p6:Int64}\nORDER BY`)
      expect(sql).not.toContain('UNION ALL')
      expect(params.p6).toBe(end)
    }
  })

  test('of most rows reads late what only its rows need', () => {
    const late = '\nSETTINGS query_plan_max_limit_for_lazy_materialization = 10001'
    expect(eventsQuery(eventsPlan({ limit: '10000' })).sql.endsWith(late)).toBe(true)
    expect(eventsQuery(eventsPlan({ limit: '9999' })).sql).not.toContain('SETTINGS')
  })

  test('binds the whole scope, the source, the filters and the cursor', () => {
    const cursor = JSON.stringify({
      order: 'desc',
      from: { millis: 5, eventId },
      window: { startMs: 1, endMs: 9 },
    })
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
LIMIT {p10:UInt32}
SETTINGS query_plan_max_limit_for_lazy_materialization = 10001`,
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
    const cursor = JSON.stringify({
      order: 'desc',
      from: { millis: 5, eventId },
      window: { startMs: 1, endMs: 9 },
    })
    expect(
      eventsQuery(eventsPlan({ cursor, select: 'page_url', distinct: 'cookie_id,page_url' })).sql,
    ).toBe(
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
      eventsQuery(eventsPlan({ select: 'page_url' }), { ...plainEncoding, leadsWithNext: true })
        .sql,
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

describe('projects', () => {
  const where = (projectIds: string[]) =>
    eventsQuery(eventsPlan({ select: 'event_id' }, { ...wide, projectIds })).sql.split('\n')[3]

  test('of an organization are named where they are known', () => {
    expect(where([projectId, pixelId])).toBe('  AND project_id IN ({p1:UUID}, {p2:UUID})')
  })

  test('that are none give no rows', () => {
    expect(where([])).toBe('  AND false')
  })

  test('that are too many are not named', () => {
    expect(where(Array.from({ length: 501 }, () => projectId))).toContain('ts_millis >=')
  })
})

describe('the source', () => {
  const sourceOf = (query: Record<string, string>) =>
    parseEventsRequest({ query: checkedQuery(EventsQuery, query) }, 'web_event', now, JSON.parse)
      .plan.source
  const countedSource = (query: Record<string, string>) =>
    readCountsRequest({ query: checkedQuery(CountsQuery, query) }, now).plan.source

  test('is the pixel unless a campaign is spoken of', () => {
    expect(sourceOf({})).toBe('pixel')
    expect(sourceOf({ filter: 'event_type:eq:click,event_data.source:eq:x' })).toBe('pixel')
    expect(sourceOf({ source: 'svcdsp' })).toBe('svcdsp')
    expect(sourceOf({ source: 'pixel', campaign_id: 'c' })).toBe('pixel')
    for (const query of [
      { campaign_id: 'c' },
      { filter: 'campaign_id:eq:c' },
      { filter: 'source:ne:pixel' },
      { filter: 'event_type:eq:click,spend:gt:0' },
    ]) {
      expect(sourceOf(query as Record<string, string>)).toBeNull()
    }
    expect(countedSource({ group_by: 'day,source' })).toBeNull()
    expect(countedSource({ group_by: 'day' })).toBe('pixel')
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
    [
      'received_at:lt:1970-01-02',
      "received_at < fromUnixTimestamp64Milli({p3:Int64}, 'UTC')",
      [86_400_000],
    ],
    ['page_url:like:a\\%b\\c\\', 'page_url LIKE {p3:String}', ['a\\%b\\\\c\\\\']],
    ['page_url:like:\\\\', 'page_url LIKE {p3:String}', ['\\\\']],
    [
      "page_url:eq:'; DROP TABLE events; --",
      'page_url = {p3:String}',
      ["'; DROP TABLE events; --"],
    ],
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
    ['os:eq:a,browser:eq:b', 'os = {p3:String}\n  AND browser = {p4:String}', ['a', 'b']],
  ])('%s', (filter, sql, bound) => expect(conditionOf(filter)).toEqual([sql, bound]))
})

describe('of whom a cookie belongs to, a filter becomes', () => {
  const number = (placeholder: string) => `reinterpretAsUInt256(unhex(${placeholder}))`
  const people = (where: string) =>
    `(SELECT arrayJoin(${hemsOfProfile(number('hem'))}) FROM profiles FINAL WHERE ${where})`
  const full = 'resolution_full_profile'
  const hem = 'ab'.repeat(32)
  test.each<[string, string, unknown[]]>([
    [
      `hem:eq:${hem}`,
      `cookie_id IN (SELECT cookie_id FROM identity_links WHERE organization_id IN ({p0:UUID}, toUUID('00000000-0000-0000-0000-000000000000')) AND hem = {p3:String})
  AND ${hemNumber} = ${number('{p3:String}')}`,
      [hem],
    ],
    [`hem:ne:${hem}`, `${hemNumber} != ${number('{p3:String}')}`, [hem]],
    ['hem:like:ab%', 'hem LIKE {p3:String}', ['ab%']],
    ['last_name:eq:Li', `${hemNumber} IN ${people('last_name = {p3:String}')}`, ['Li']],
    ['age:gte:30', `${hemNumber} IN ${people('age >= {p3:Int64}')}`, ['30']],
    ['last_name:ne:Li', `${hemNumber} NOT IN ${people('last_name = {p3:String}')}`, ['Li']],
    [
      'last_name:like:L%,age:lt:30,event_type:eq:click,job_title:ne:a,is_home_owner:ne:true',
      `event_type = {p3:String}
  AND ${hemNumber} IN ${people('last_name LIKE {p4:String} AND age < {p5:Int64}')}
  AND ${hemNumber} NOT IN ${people('job_title = {p6:String} OR is_home_owner = {p7:Bool}')}`,
      ['click', 'L%', '30', 'a', true],
    ],
  ])('%s', (filter, sql, bound) => expect(conditionOf(filter, full)).toEqual([sql, bound]))
})

describe('people', () => {
  const plan = (query: Record<string, string>, tier: Tier) => eventsPlan(query, wide, tier)
  const person = `${profileOf('_hem_number')} AS _profile_number, dictGetOrDefault('profile_by_hem', ('hem_number', 'pte', 'profile'), toUInt64(_profile_number), (toUInt256(0), '', ''))::Tuple(hem_number UInt256, pte String, profile String) AS _person`

  test('are not asked for where no field of theirs is', () => {
    expect(eventsQuery(plan({ select: 'hem' }, 'resolution_hem')).sql).toMatch(
      /^SELECT hem\nFROM events\nWHERE/,
    )
  })

  const values =
    "JSONExtract(concat('{', substring(if(_person.hem_number = _profile_number, _person.pte || _person.profile, ''), 2), '}'), 'Tuple(age Nullable(Int64), maid Nullable(String))') AS _values"
  const found = `FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p3:UInt32}`

  const oneServer = { ...plainEncoding, isOfOneServer: true }

  test('are looked up in the SELECT that finds the rows', () => {
    expect(
      eventsQuery(plan({ select: 'age,event_id,maid' }, 'resolution_full_profile'), oneServer).sql,
    ).toBe(
      `WITH ${hemNumber} AS _hem_number, ${person}, ${values}
SELECT _values.age AS age, event_id, _values.maid AS maid
${found}`,
    )
  })

  test('are looked up around it of several shards', () => {
    const selected = plan({ select: 'age,event_id,maid' }, 'resolution_full_profile')
    expect(eventsQuery(selected, { ...oneServer, isOfOneServer: false }).sql).toBe(
      `WITH ${person}, ${values}
SELECT _values.age AS age, event_id, _values.maid AS maid
FROM (
SELECT event_id, ts_millis, ${hemNumber} AS _hem_number
${found}
)
ORDER BY ts_millis DESC, event_id DESC`,
    )
  })

  test('are looked up around it where rows say the key of the last of them', () => {
    const selected = plan({ select: 'age,event_id,hem,maid' }, 'resolution_full_profile')
    expect(eventsQuery(selected, { ...oneServer, leadsWithNext: true }).sql).toBe(
      `WITH ${person}, ${values}
SELECT toString(min((ts_millis, event_id)) OVER ()) AS _next, _values.age AS age, event_id, CAST(if(_hem_number = 0, NULL, lower(hex(reinterpretAsFixedString(_hem_number)))), 'Nullable(String)') AS hem, _values.maid AS maid
FROM (
SELECT event_id, ts_millis, ${hemNumber} AS _hem_number
${found}
)
ORDER BY ts_millis DESC, event_id DESC`,
    )
  })

  test('come as ready JSON where all of their tier is wanted', () => {
    const { sql } = eventsQuery(plan({}, 'resolution_hem_pte'), {
      ...oneServer,
      profiles: 'members',
    })
    const pte = fieldsAt('resolution_hem_pte').filter(isProfileField)
    const nulls = pte.map(({ name }) => `,"${name}":null`).join('')
    expect(sql.split('\nFROM events')[0]).toMatch(/^WITH dictGet/)
    expect(sql).toContain(
      `, multiIf(_hem_number = 0, '', _person.hem_number = _profile_number, _person.pte, '${nulls}') AS _pte, '' AS _profile\nFROM events`,
    )
  })

  test('are joined to the whole window where it is theirs what makes events equal', () => {
    const { sql } = eventsQuery(
      plan({ select: 'event_id', distinct: 'company_domain,hem' }, 'resolution_full_profile'),
    )
    expect(sql).toBe(`SELECT event_id
FROM (
SELECT event_id, ts_millis
FROM events GLOBAL ANY LEFT JOIN (SELECT arrayJoin(${hemsOfProfile('reinterpretAsUInt256(unhex(hem))')}) AS _hem_number, company_domain FROM profiles FINAL) AS known ON known._hem_number = ${hemNumber}
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
ORDER BY ts_millis DESC, event_id DESC
LIMIT 1 BY company_domain, hem
)
ORDER BY ts_millis DESC, event_id DESC
LIMIT {p3:UInt32}`)
  })
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
    const query = {
      group_by: 'event_type,hour,day,url',
      distinct: 'cookie_id,page_host',
      limit: '5',
    }
    expect(countsQuery(countsPlan(query)).sql).toBe(
      `SELECT event_type, toStartOfHour(timestamp) AS hour, toDate(timestamp) AS day, page_url AS url, count() AS count, uniqExact(tuple(cookie_id, page_host)) AS \`distinct\`, sum(count()) OVER () AS _total
FROM events
WHERE organization_id = {p0:UUID}
  AND ts_millis >= {p1:Int64}
  AND ts_millis < {p2:Int64}
GROUP BY event_type, hour, day, url
ORDER BY hour, day, count DESC, event_type, url
LIMIT {p3:UInt32}
SETTINGS optimize_injective_functions_inside_uniq = 0`,
    )
  })
})
