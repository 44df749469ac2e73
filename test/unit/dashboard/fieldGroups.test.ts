/** The fields of a condition, by group. */
import { expect, test } from 'vitest'
import { groupedFields } from '../../../collector/dashboard/web/view/fieldGroups.ts'
import { fieldsAt } from '../../../schemas/fields.ts'

test('fields of events have six groups, the most used first; each field is in one of them', () => {
  const fields = fieldsAt('web_event')
  const groups = groupedFields(fields, 'page_path')
  expect([...groups.keys()]).toEqual(['Page', 'Source', 'Device', 'Place', 'Event', 'Visitor'])
  expect([...groups.values()].map(([first]) => first)).toEqual([
    'page_path',
    'referrer_host',
    'device_type',
    'country',
    'event_type',
    'resolved',
  ])
  const names = [...groups.values()].flat()
  expect(names.toSorted()).toEqual(
    fields
      .map(({ name }) => name)
      .filter((name) => !['ts_millis', 'project_id', 'event_data'].includes(name))
      .toSorted(),
  )
})

test('a field that is not offered stays the choice of its condition', () => {
  expect(groupedFields(fieldsAt('web_event'), 'project_id').get('Event')).toContain('project_id')
})

test('groups of identity data follow', () => {
  expect([...groupedFields(fieldsAt('resolution_full_profile'), '').keys()].slice(6)).toEqual([
    'Contact',
    'Company',
    'Demographic',
  ])
})
