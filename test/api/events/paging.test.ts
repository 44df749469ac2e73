import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf, openEvents, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const cookies = ['a', 'b', 'c', 'd', 'e'].map(
  (last) => `00000000-0000-4000-8000-00000000000${last}`,
)

// Sixty events at only five instants, so that pages end between events of the same millisecond.
const stored = Array.from({ length: 60 }, (_, index) =>
  eventOf(now, 60_000 + (index % 5) * 1000, {
    cookie_id: cookies[Math.floor(index / 12)],
    page_url: `line one\n"quoted", line two\n${index}`,
    event_data: `{"n":${index}}`,
  }),
)

beforeAll(async () => {
  events = await openEvents()
  await events.insert(stored)
})
afterAll(() => events.close())

async function allPages(query: Record<string, string>): Promise<Row[][]> {
  const pages: Row[][] = []
  let cursor: string | undefined
  do {
    const { rows, meta } = await events.page({ ...query, ...(cursor && { cursor }) })
    pages.push(rows)
    cursor = meta.next_cursor
    expect(meta.has_more).toBe(cursor !== undefined)
    expect(meta.records).toBe(rows.length)
  } while (cursor)
  return pages
}

describe('paging', () => {
  test.each([
    ['with every field', ['1', '59', '60'], {}],
    ['without the fields that place a row', ['7'], { select: 'event_data,page_url' }],
    ['with a filter', ['7'], { filter: 'event_data.n:gte:0' }],
  ])('%s returns each event once, in the order of one long page', async (_, limits, more) => {
    const { rows: whole } = await events.page({ limit: '1000', ...more })
    expect(whole).toHaveLength(60)
    for (const limit of limits) {
      const pages = await allPages({ limit, ...more })
      expect(pages.flat()).toEqual(whole)
      expect(pages).toHaveLength(Math.ceil(60 / Number(limit)))
    }
  })

  test.each([
    ['with every field', {}],
    ['without the fields that place a row', { select: 'event_data,page_url' }],
    ['with a filter', { filter: 'event_data.n:gte:30' }],
    ['with distinct', { distinct: 'cookie_id' }],
  ])('%s and order=asc returns the same events from the oldest on', async (_, more) => {
    const window = { start_ms: String(now - 120_000), end_ms: String(now - 30_000) }
    const { rows: newestFirst } = await events.page({ limit: '1000', ...window, ...more })
    const ascending = { order: 'asc', ...window, ...more }
    const { rows: whole, meta } = await events.page({ limit: '1000', ...ascending })
    expect(meta.order).toBe('asc')
    expect(whole).toEqual(newestFirst.toReversed())
    expect((await allPages({ limit: '7', ...ascending })).flat()).toEqual(whole)
  })

  test.each(['application/x-ndjson', 'text/csv'])('goes both ways as %s', async (accept) => {
    const window = { start_ms: String(now - 120_000), end_ms: String(now - 30_000) }
    const select = 'event_type,page_url'
    const bodyOf = async (query: Record<string, string>, limit: string) => {
      const pages: string[] = []
      let cursor: string | undefined
      do {
        const more = cursor ? { cursor } : { ...window, ...query }
        const answer = await events.get('events/web_event', { select, limit, ...more }, { accept })
        expect(answer.statusCode).toBe(200)
        cursor = answer.headers['x-footfall-next-cursor'] as string | undefined
        pages.push(answer.body.replace(/^"event_type","page_url"\n/, ''))
      } while (cursor)
      return pages.join('')
    }
    const ascending = await bodyOf({ order: 'asc' }, '1000')
    expect(ascending).not.toBe(await bodyOf({ order: 'desc' }, '1000'))
    expect(await bodyOf({ order: 'asc' }, '7')).toBe(ascending)
  })

  test('a cursor knows its order, and another order is refused', async () => {
    const first = await events.page({ limit: '10', order: 'asc' })
    const cursor = first.meta.next_cursor!
    const { rows } = await events.page({ limit: '1000', order: 'asc' })
    expect((await events.page({ limit: '10', cursor })).rows).toEqual(rows.slice(10, 20))
    const refused = await events.get('events/web_event', { cursor, order: 'desc' })
    expect([refused.statusCode, refused.json().parameter]).toEqual([400, 'order'])
    expect((await events.get('events/web_event', { order: 'up' })).statusCode).toBe(400)
  })

  test('a cursor of one filter, distinct or source is refused with another, and says why', async () => {
    const filter = 'event_type:in:page_view|click'
    const { meta } = await events.page({ limit: '2', filter, distinct: 'event_id' })
    const cursor = meta.next_cursor!
    for (const other of [
      { distinct: 'event_id' },
      { filter: 'event_type:eq:click', distinct: 'event_id' },
      { filter },
      { filter, distinct: 'event_id', source: 'svcdsp' },
    ]) {
      const refused = await events.get('events/web_event', { cursor, ...other } as never)
      expect(refused.statusCode).toBe(400)
      expect(refused.json()).toMatchObject({
        parameter: 'cursor',
        message: expect.stringContaining('issued for another filter, distinct or source'),
      })
    }
    const next = await events.page({ cursor, limit: '2', filter, distinct: ' event_id ' })
    expect(next.rows.length).toBeGreaterThan(0)
  })

  test('does not show a kind again that an earlier page has shown', async () => {
    const { rows: whole } = await events.page({ distinct: 'cookie_id' })
    expect(whole).toHaveLength(5)
    expect((await allPages({ distinct: 'cookie_id', limit: '2' })).flat()).toEqual(whole)
  })

  test('keeps to the window of the first page', async () => {
    const first = await events.page({ limit: '10' })
    await events.insert([eventOf(now, 1)])
    const second = await events.page({ limit: '10', cursor: first.meta.next_cursor! })
    expect(second.meta).toMatchObject({ start_ms: first.meta.start_ms, end_ms: first.meta.end_ms })
  })

  test.each(['application/x-ndjson', 'text/csv'])('works by headers as %s', async (accept) => {
    const window = { start_ms: String(now - 120_000), end_ms: String(now - 30_000) }
    const select = 'event_data,page_url,event_type'
    const page = (query: Record<string, string>) =>
      events.get('events/web_event', { select, ...window, ...query }, { accept })
    const whole = (await page({ limit: '1000' })).body
    let names = ''
    let body = ''
    let cursor: string | undefined
    let pages = 0
    do {
      const answer = await page({ limit: '7', ...(cursor && { cursor }) })
      cursor = answer.headers['x-footfall-next-cursor'] as string | undefined
      expect(answer.headers['x-footfall-has-more']).toBe(String(cursor !== undefined))
      names = accept === 'text/csv' ? '"event_data","page_url","event_type"\n' : ''
      expect(answer.body.startsWith(names)).toBe(true)
      body += answer.body.slice(names.length)
      pages += 1
    } while (cursor)
    expect(pages).toBe(9)
    expect(names + body).toBe(whole)
  })

  test('carries long pages through many chunks, in every form', async () => {
    const many = Array.from({ length: 3000 }, (_, index) =>
      eventOf(now, 10 * 3_600_000 + index, {
        page_url: `\n"${index},\n${'é😀'.repeat(index % 300)}`,
      }),
    )
    await events.insert(many)
    const query = {
      start_ms: String(now - 11 * 3_600_000),
      end_ms: String(now - 9 * 3_600_000),
      limit: '2999',
      select: 'page_url',
    }
    const urls = many.slice(0, 2999).map(({ page_url }) => page_url)
    expect((await events.page(query)).rows.map(({ page_url }) => page_url)).toEqual(urls)
    const placed = await events.page({ ...query, select: 'page_url,ts_millis,event_id' })
    expect(placed.rows.map(({ page_url }) => page_url)).toEqual(urls)
    const ndjson = (await events.get('events/web_event', query, { accept: 'application/x-ndjson' }))
      .body
    expect(
      ndjson
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).page_url),
    ).toEqual(urls)
    const csv = (await events.get('events/web_event', query, { accept: 'text/csv' })).body
    expect(csv).toBe(
      `"page_url"\n${urls.map((url) => `"${String(url).replaceAll('"', '""')}"\n`).join('')}`,
    )
  })
})
