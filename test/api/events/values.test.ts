import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf, openEvents, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()

const values = [
  `it's "quoted" and \`ticked\``,
  "'; DROP TABLE events; --",
  'a,b:c,d:is:e,f.g:eq:h',
  '100 % of _',
  'C:\\new\\table\\',
  '\\N',
  '\\',
  '%',
  '{p0:String}',
  '👩‍👩‍👧 😀 é',
  'line\nbreak\ttab\r',
  '\u0000\u0001',
  ' ',
  'null',
]

const withValue = (value: string, index: number): Row =>
  eventOf(now, 60_000 + index, {
    page_url: value,
    event_data: JSON.stringify({ deep: { [`key ${value}`.replace(/[,:.]/g, '')]: value } }),
  })

const numbered = eventOf(now, 3_600_000, {
  event_type: 'scroll_depth',
  referrer_url: 'https://r.example/',
  is_bot: true,
  event_data:
    '{"percentage":62.5,"threshold":50,"flag":true,"none":null,"list":[1,2],"word":"62.5x"}',
})

beforeAll(async () => {
  events = await openEvents()
  await events.insert([...values.map(withValue), numbered])
})
afterAll(() => events.close())

const found = async (filter: string) =>
  (await events.page({ filter, select: 'page_url' })).rows.map(({ page_url }) => page_url)
const numberedMatches = async (filter: string) =>
  (await events.page({ filter: `event_type:eq:scroll_depth,${filter}` })).rows.length === 1

describe.each(values.map((value, index) => [JSON.stringify(value), value, index] as const))(
  '%s',
  (_, value, index) => {
    test('is found by eq, left out by ne, and comes back as it was', async () => {
      expect(await found(`page_url:eq:${value}`)).toEqual([value])
      expect(await found(`page_url:ne:${value},event_type:ne:scroll_depth`)).toEqual(
        values.filter((other) => other !== value),
      )
    })

    test('is found by like when its signs are escaped', async () => {
      expect(await found(`page_url:like:${value.replace(/[%_\\]/g, '\\$&')}`)).toEqual([value])
    })

    test('is found inside event_data, as value and as key', async () => {
      const key = `key ${value}`.replace(/[,:.]/g, '')
      expect(await found(`event_data.deep.${key}:eq:${value}`)).toEqual([value])
    })

    test('is the same in event_data as it was sent', async () => {
      const { rows } = await events.page({ select: 'event_data', filter: `page_url:eq:${value}` })
      expect(rows).toEqual([{ event_data: withValue(value, index).event_data }])
    })

    test('is no field, source, campaign or cursor, and does no harm as one', async () => {
      for (const parameter of [
        'select',
        'distinct',
        'source',
        'cursor',
        'limit',
        'start_time',
        'pixel_id',
      ]) {
        const answer = await events.get('events/web_event', { [parameter]: value })
        expect([parameter, answer.statusCode]).toEqual([parameter, 400])
      }
      expect((await events.page({ campaign_id: value })).rows).toEqual([])
      expect((await events.page()).rows).toHaveLength(values.length + 1)
    })
  },
)

describe('a filter', () => {
  test.each([
    ['event_type:eq:scroll_depth', true],
    ['event_type:gt:s', true],
    ['event_type:like:scroll%', true],
    ['event_type:like:SCROLL%', false],
    ['event_type:like:scroll_dept_', true],
    ['event_type:like:scroll\\_depth', true],
    ['event_type:like:scroll', false],
    [`event_id:eq:${numbered.event_id}`, true],
    [`event_id:ne:${numbered.event_id}`, false],
    [`event_id:gte:${numbered.event_id}`, true],
    [`event_id:gt:${numbered.event_id}`, false],
    [`event_id:like:${String(numbered.event_id).slice(0, 9)}%`, true],
    [`ts_millis:eq:${numbered.ts_millis}`, true],
    [`ts_millis:gt:${numbered.ts_millis}`, false],
    [`ts_millis:lte:${numbered.ts_millis}`, true],
    [`timestamp:eq:${new Date(now - 3_600_000).toISOString()}`, true],
    [`timestamp:lt:${new Date(now - 3_600_000).toISOString()}`, false],
    [`received_at:eq:${numbered.received_at}`, true],
    [`received_at:gt:${numbered.received_at}`, false],
    ['is_bot:eq:true', true],
    ['is_bot:ne:true', false],
    ['resolved:eq:false', true],
    ['resolved:eq:true', false],
    ['resolved:ne:true', true],
    ['referrer_url:eq:https://r.example/', true],
    ['campaign_id:ne:x', true],
    ['campaign_id:eq:', false],
    ['event_data:like:%"threshold":50%', true],
    ['event_data.threshold:eq:50', true],
    ['event_data.threshold:ne:50', false],
    ['event_data.percentage:eq:62.5', true],
    ['event_data.percentage:gt:9', true],
    ['event_data.percentage:gt:62.5', false],
    ['event_data.percentage:gte:62.5', true],
    ['event_data.percentage:lt:100', true],
    ['event_data.percentage:like:62%', true],
    ['event_data.flag:eq:true', true],
    ['event_data.none:eq:', false],
    ['event_data.none:ne:x', true],
    ['event_data.missing:eq:', false],
    ['event_data.missing:ne:x', true],
    ['event_data.missing:lt:1', false],
    ['event_data.word:gt:1', false],
    ['event_data.list:eq:[1,2]', true],
    ['page_url:in:x|y', false],
    [`ts_millis:in:1|${numbered.ts_millis}`, true],
    [`timestamp:in:2026-01-01|${new Date(now - 3_600_000).toISOString()}`, true],
    [`received_at:in:2026-01-01|${numbered.received_at}`, true],
    ['received_at:in:2026-01-01|2026-01-02', false],
    ['is_bot:in:true|false', true],
    ['resolved:in:true|true', false],
    ["event_data.word:in:a'b\\|62.5x", true],
  ])('%s', async (filter, matches) => expect(await numberedMatches(filter)).toBe(matches))
})

describe('filters as many as there may be', () => {
  const many = (filter: string, length = 100) => Array(length).fill(filter).join(',')

  test('have all their values', async () => {
    const others = Array.from({ length: 99 }, (_, index) => `'${index}\\`).join('|')
    expect(await found(many(`page_url:in:${others}|%`))).toEqual(['%'])
    expect(await found(many(`page_url:in:${others}|x`))).toEqual([])
  })

  test('have 300 names in their paths, and no more', async () => {
    const apart = Array.from({ length: 30 }, (_, filter) => {
      const names = Array.from({ length: 10 }, (_, name) => `n${filter}x${name}`)
      return `event_data.${names.join('.')}:ne:x`
    })
    expect(await numberedMatches(apart.join(','))).toBe(true)
    const answer = await events.get('events/web_event', {
      filter: [...apart, 'event_data.n:ne:x'].join(','),
    })
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'filter' })
    expect(answer.json().message).toContain('300 names')
  })
})
