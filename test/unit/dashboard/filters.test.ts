import fc from 'fast-check'
import { expect, test } from 'vitest'
import { filterFor, textOf } from '../../../collector/dashboard/web/view/filterText.ts'
import { readFilters } from '../../../collector/events/query/filter/filter.ts'

/** What pages and sources may hold: pieces that look like filters among others. */
const value = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ',',
        ':',
        '_',
        '%',
        '\\',
        'page_path:eq:',
        ',event_type:like:',
        'event_data.a-b.c:in:',
        '|',
      ),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''))

/** Whether a text is like a pattern of SQL. */
function isLike(text: string, pattern: string): boolean {
  const parts = pattern.match(/\\[%_\\]|[\s\S]/g) ?? []
  const sources = parts.map((part) => {
    if (part === '_') return '[\\s\\S]'
    if (part === '%') return '[\\s\\S]*'
    return part.slice(-1).replace(/[.*+?^${}()|[\]\\/-]/, '\\$&')
  })
  return new RegExp(`^${sources.join('')}$`).test(text)
}

test('a click on a value is one filter, which the value meets, whatever visitors have sent', () => {
  fc.assert(
    fc.property(value, (sent) => {
      const filters = readFilters(
        `${filterFor('page_path', sent)},event_type:eq:click`,
        'web_event',
      )
      expect(filters).toHaveLength(2)
      const { op, value } = filters[0]!
      if (op === 'eq') expect(value).toBe(sent)
      else expect([op, isLike(sent, String(value))]).toEqual(['like', true])
    }),
  )
})

test('several filters read as sentences, and a value keeps its commas', () => {
  expect(textOf('event_type:eq:page_view,page_path:eq:/a,b')).toBe(
    'Event is Page view and Page is /a,b',
  )
  expect(filterFor('page_path', '/a,b')).toBe('page_path:eq:/a,b')
  expect(filterFor('page_path', '/100%,country:eq:GB')).toBe('page_path:like:/100\\%_country:eq:GB')
})
