import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Condition,
  filtersOf,
  readConditions,
  textOfConditions,
} from '../../../collector/dashboard/web/view/conditions.ts'
import { readFilters } from '../../../collector/events/query/filter/filter.ts'

test.each<[Condition, string]>([
  [{ field: 'page_path', op: 'is', values: ['/a'] }, 'page_path:eq:/a'],
  [{ field: 'country', op: 'is', values: ['DE', 'AT'] }, 'country:in:DE|AT'],
  [{ field: 'country', op: 'isNot', values: ['DE', 'AT'] }, 'country:ne:DE,country:ne:AT'],
  [{ field: 'page_path', op: 'contains', values: ['50%_a'] }, 'page_path:like:%50\\%\\_a%'],
  [{ field: 'page_path', op: 'like', values: ['/blog/%'] }, 'page_path:like:/blog/%'],
  [
    { field: 'event_data.properties.price', op: 'gte', values: ['10'] },
    'event_data.properties.price:gte:10',
  ],
])('%j is written as %s, and read again', (condition, text) => {
  expect(filtersOf(condition).join(',')).toBe(text)
  expect(readConditions(text)).toEqual([condition])
})

test('a condition without a field or a value is left out', () => {
  expect(textOfConditions([{ field: 'page_path', op: 'is', values: [] }])).toBe('')
  expect(textOfConditions([{ field: '', op: 'is', values: ['x'] }])).toBe('')
})

test('what is not a filter has no rows', () => {
  expect(readConditions('')).toEqual([])
  expect(readConditions('nothing')).toBeNull()
  expect(readConditions('page_path:of:x')).toBeNull()
})

test('the API reads what the builder writes as one filter for each condition', () => {
  const value = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => !/[,|:]/.test(text))
  const condition = fc.record({
    field: fc.constantFrom('page_path', 'country', 'event_data.name', 'event_data.properties.plan'),
    op: fc.constantFrom('is' as const, 'isNot' as const, 'contains' as const),
    values: fc.array(value, { minLength: 1, maxLength: 1 }),
  })
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 4 }), (conditions) => {
      const read = readFilters(textOfConditions(conditions), 'web_event')
      expect(read).toHaveLength(conditions.length)
    }),
  )
})
