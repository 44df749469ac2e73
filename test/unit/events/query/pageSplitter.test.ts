import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitPages } from '../../../../collector/events/query/pageSplitter.ts'

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ts_millis: 1_000 - n,
    event_id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    page_url: 'é"\n'.repeat(n % 4),
  }))
const linesOf = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

async function* cut(text: string, sizes: readonly number[]) {
  const bytes = Buffer.from(text)
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const size = sizes[i % sizes.length]!
    yield Buffer.from(bytes.subarray(from, from + size))
    from += size
  }
}

async function split(text: string, limit: number, pages: number, sizes: readonly number[] = [50]) {
  const found: { rows: unknown[]; hasMore: boolean; records: number; last: unknown }[] = []
  for await (const page of splitPages(cut(text, sizes), { limit, pages, order: 'desc' })) {
    const bytes = Buffer.concat(page.rows.map(({ bytes }) => bytes))
    const records = page.rows.reduce((sum, { records }) => sum + records, 0)
    expect(records).toBe(page.records)
    found.push({ ...page, rows: JSON.parse(`[${bytes}]`) })
  }
  return found
}

test('pages have all rows, wherever the chunks end', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }),
      async (count, limit, pages, sizes) => {
        const rows = rowsOf(count)
        const found = await split(linesOf(rows.slice(0, limit * pages + 1)), limit, pages, sizes)
        expect(found.flatMap((page) => page.rows)).toEqual(rows.slice(0, limit * pages))
        for (const [at, { rows: own, hasMore, last }] of found.entries()) {
          expect(hasMore).toBe(count > limit * at + own.length)
          const key = own.at(-1) as { ts_millis: number; event_id: string } | undefined
          expect(last).toEqual(key ? { millis: key.ts_millis, eventId: key.event_id } : null)
        }
      },
    ),
  ))

test('a page of large rows ends early, and the next ones continue', async () => {
  const rows = rowsOf(9).map((row) => ({ ...row, page_url: 'x'.repeat(1_000) }))
  const sizesOf = async (count: number, pages: number) => {
    const records: number[] = []
    const chunks = cut(linesOf(rows.slice(0, count)), [70])
    for await (const page of splitPages(chunks, {
      limit: 4,
      pages,
      order: 'desc',
      bytesMax: 2_500,
    })) {
      records.push(page.records)
      expect(page.isFull).toBe(page.records >= 3)
      const seen = records.reduce((sum, one) => sum + one, 0)
      expect(page.hasMore).toBe(seen < count)
      expect(page.last?.eventId).toBe(rows[seen - 1]?.event_id)
    }
    return records
  }
  expect(await sizesOf(9, 3)).toEqual([3, 3, 3])
  expect(await sizesOf(9, 2)).toEqual([3, 3])
  expect(await sizesOf(7, 5)).toEqual([3, 3, 1])
  expect(await sizesOf(2, 5)).toEqual([2])
})

test('an empty line of a template is no row', async () => {
  expect(await split('\n', 5, 2)).toMatchObject([{ records: 0, hasMore: false }])
})

test('a response that ends within a row has no page of it', async () => {
  const text = linesOf(rowsOf(7))
  const found: number[] = []
  const read = async () => {
    const chunks = cut(text.slice(0, -5), [40])
    for await (const { records } of splitPages(chunks, { limit: 3, pages: 5, order: 'desc' }))
      found.push(records)
  }
  await expect(read()).rejects.toThrow('ended before its last row')
  expect(found).toEqual([3, 3])
})

test('the text of an error is no row', async () => {
  const text = `${linesOf(rowsOf(3))}\r\n__exception__\r\nCode: 241\n`
  await expect(split(text, 10, 2)).rejects.toThrow('broke off')
})
