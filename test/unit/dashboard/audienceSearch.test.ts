import { expect, test } from 'vitest'
import { audienceSearch } from '../../../collector/dashboard/web/view/audienceSearch.ts'

type View = Parameters<typeof audienceSearch>[0]

const view = (part: Partial<View>): View => ({
  period: 'days30',
  filters: ['page_path:eq:/pricing'],
  pixelId: undefined,
  hasBots: false,
  ...part,
})
const asked = (part: Partial<View>) => {
  const search = audienceSearch(view(part))
  return search && Object.fromEntries(new URLSearchParams(search))
}

test('filters on single events are the conditions of an audience, of the same days and without bots', () => {
  expect(asked({})).toEqual({
    event_filter: 'page_path:eq:/pricing,is_bot:eq:false',
    // Today and the 29 days before it.
    within_days: '29',
  })
  const filters = ['event_type:eq:custom,event_data.name:eq:a, b', 'event_data.properties.x:gt:2']
  expect(asked({ filters, hasBots: true, period: 'days7' })).toEqual({
    event_filter: filters.join(','),
    within_days: '6',
  })
})

test.each<[string, Partial<View>]>([
  ['no filter', { filters: [] }],
  ['a filter on sessions', { filters: ['page_path:eq:/pricing', 'channel:eq:Email'] }],
  ['a value that sessions have from their first event', { filters: ['country:eq:DE'] }],
  ['one visitor', { filters: ['cookie_id:eq:1'] }],
  ['one of the pixels', { pixelId: 'a' }],
  ['days that do not move on', { period: 'custom' }],
  ['today alone', { period: 'today' }],
])('an audience cannot express %s', (_, part) => {
  expect(audienceSearch(view(part))).toBeNull()
})
