import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventOf, openEvents } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const projects = [randomUUID(), randomUUID(), randomUUID()]

// Alternates between many a second and few an hour, so that the estimate of a page is wrong for the next.
const agos = Array.from({ length: 12 }, (_, part) =>
  Array.from({ length: 40 }, (_, index) =>
    part % 2 === 0 ? part * 3_600_000 + index * 3 : part * 3_600_000 + index * 60_000,
  ),
).flat()
const stored = agos.map((ago) =>
  eventOf(now, 1_000 + ago, { project_id: projects[randomInt(projects.length)] }),
)
const startMs = now - 24 * 3_600_000

beforeAll(async () => {
  events = await openEvents()
  await events.insert(stored)
})
afterAll(() => events.close())

/** Rows of an entire window, read by pages of this size. */
async function allRows(query: Record<string, string>): Promise<unknown[]> {
  const ids: unknown[] = []
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor; pages++) {
    const { rows, meta } = await events.page({ ...query, ...(cursor && { cursor }) })
    ids.push(...rows.map(({ event_id }) => event_id))
    cursor = meta.next_cursor
    expect(meta.has_more).toBe(cursor !== undefined)
    expect(rows.length).toBeLessThanOrEqual(Number(query.limit))
    if (cursor) expect(rows).toHaveLength(Number(query.limit))
  }
  return ids
}

// First, because estimates of other tests would widen that of the first page.
test('a page that the estimated span fills to the last row is followed by the next', async () => {
  const window = { start_ms: String(startMs), end_ms: String(now) }
  const ofLimit = async (limit: number) =>
    (await events.page({ limit: `${limit}`, ...window })).meta
  // The first 40 events are within a second, and the next is an hour away.
  expect(await ofLimit(39)).toMatchObject({ records: 39, has_more: true })
  expect(await ofLimit(40)).toMatchObject({ records: 40, has_more: true })
})

test.each(['40', '90', '10000'])(
  'pages of %s events have each of several projects once',
  async (limit) => {
    for (const order of ['desc', 'asc', 'desc']) {
      const endMs = now - randomInt(3 * 3_600_000)
      const inside = stored.filter(({ ts_millis }) => Number(ts_millis) < endMs)
      const expected = inside.map(({ event_id }) => event_id)
      expect(
        await allRows({ limit, order, start_ms: String(startMs), end_ms: String(endMs) }),
      ).toEqual(order === 'desc' ? expected : expected.toReversed())
    }
  },
)

test('pages of random windows and limits are what lies in them', async () => {
  for (let n = 0; n < 60; n++) {
    const endMs = now - randomInt(11 * 3_600_000)
    const limit = 1 + randomInt(120)
    const { rows, meta } = await events.page({
      limit: String(limit),
      start_ms: String(startMs),
      end_ms: String(endMs),
    })
    const inside = stored.filter(({ ts_millis }) => Number(ts_millis) < endMs)
    const expected = inside.slice(0, limit).map(({ event_id }) => event_id)
    expect(rows.map(({ event_id }) => event_id)).toEqual(expected)
    expect(meta.has_more).toBe(inside.length > limit)
    expect(meta.records).toBe(expected.length)
  }
})
