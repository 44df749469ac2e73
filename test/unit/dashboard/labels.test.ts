import { describe, expect, test } from 'vitest'
import {
  goalFilter,
  goalValue,
  readGoalFilter,
  readGoalProperty,
} from '../../../collector/dashboard/web/pages/goals/goalFilter.ts'
import { faultText } from '../../../collector/dashboard/web/view/faultText.ts'
import { textOf } from '../../../collector/dashboard/web/view/filterText.ts'
import { labelOfField, labelOfValue } from '../../../collector/dashboard/web/view/labels.ts'
import { fieldNamed, selectableAt } from '../../../schemas/fields.ts'

test('every field of events and every type of event has a label of its own', () => {
  const ofSessions = ['channel', 'entry_page', 'exit_page']
  const names = [...selectableAt('web_event').map(({ name }) => name), ...ofSessions]
  expect(new Set(names.map(labelOfField)).size).toBe(names.length)
  expect(labelOfField('page_path')).toBe('Page')
  for (const type of fieldNamed('event_type')!.values!)
    expect(labelOfValue('event_type', type)).not.toBe(type)
})

test('no field that people see is named by an abbreviation of the API', () => {
  const labels = selectableAt('resolution_full_profile').map(({ name }) => labelOfField(name))
  expect(labels.filter((label) => /\b(?:hem|pte|maid|uid2|utm|url)\b/i.test(label))).toEqual([])
})

test.each([
  ['page_path:eq:/thanks', 'Page is /thanks'],
  ['event_type:eq:form_submission', 'Event is Form sent'],
  ['country:in:DE|FR', 'Country is one of Germany, France'],
  ['page_path:like:%/docs%', 'Page contains /docs'],
  ['page_path:like:/docs/%', 'Page matches /docs/%'],
  ['event_data.properties.plan:ne:free', 'Property plan is not free'],
  ['is_bot:eq:false,viewport_width:gte:800', 'Bot is no and Window width is at least 800'],
])('%s reads "%s"', (filter, text) => {
  expect(textOf(filter)).toBe(text)
})

test.each([
  ['', 'must be an object', 'The event must be an object'],
  ['/event_id', 'must be a UUID', 'Event id must be a UUID'],
  ['/event_data', 'requires name', 'Event data requires name'],
  ['/event_data/name', 'must be a string', 'Event name must be a string'],
  ['/event_data/properties/plan', 'must be a string', 'Property plan must be a string'],
  ['/event_data/percentage', 'must be at most 100', 'Percentage must be at most 100'],
  ['/event_data/form/fields/0', 'must be a string', 'Form › Fields › 0 must be a string'],
  ['/event_data/timestamp', 'must be a date that exists', 'Time must be a date that exists'],
])('the fault "%s %s" reads "%s"', (path, message, text) => {
  expect(faultText({ path, message })).toBe(text)
})

describe('a goal that was picked', () => {
  test.each([
    ['page', '/thanks', 'event_type:eq:page_view,page_path:eq:/thanks'],
    ['page', '/a,page_path:eq:/b', 'event_type:eq:page_view,page_path:like:/a_page\\_path:eq:/b'],
    ['event', 'signed_up', 'event_type:eq:custom,event_data.name:eq:signed_up'],
    ['form', '', 'event_type:eq:form_submission'],
    ['download', '', 'event_type:eq:download'],
    ['condition', 'country:eq:DE', 'country:eq:DE'],
  ] as const)('%s %s is %s', (kind, value, filter) => {
    expect(goalFilter(kind, value)).toBe(filter)
  })

  test('is the same when it is read again, unless its value needed a pattern', () => {
    for (const [kind, value] of [
      ['page', '/thanks'],
      ['event', 'signed_up'],
      ['form', ''],
      ['download', ''],
      ['condition', 'event_type:eq:page_view,page_path:like:/a%'],
    ] as const)
      expect(readGoalFilter(goalFilter(kind, value))).toEqual({ kind, value })
    expect(readGoalFilter(goalFilter('page', '/a,os:eq:b')).kind).toBe('condition')
  })
})

test.each([
  ['total', 'event_data.properties.total', 'total'],
  [' order.total ', 'event_data.properties.order.total', 'order.total'],
  ['event_data.value', 'event_data.value', 'event_data.value'],
])('the value of a goal by the property “%s” is at %s', (typed, property, read) => {
  expect(goalValue(typed, ' eur')).toEqual({ property, currency: 'EUR' })
  expect(readGoalProperty(property)).toBe(read)
})

test('a goal without a property has no value', () => {
  expect(goalValue(' ', 'EUR')).toBeUndefined()
})
