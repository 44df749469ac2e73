import { expect, test } from 'vitest'
import { eventNumbers, eventTypes } from '../../../schemas/events/index.ts'

/** Ids that were given out end with these: an entry is added for a new type, and none is ever changed or removed. */
const pinned = {
  page_view: 1,
  click: 2,
  scroll_depth: 3,
  copy: 4,
  form_submission: 5,
  search: 6,
  video: 7,
  download: 8,
  custom: 9,
}

test('each event type has a number of its own, which never changes', () => {
  expect(eventNumbers).toEqual(pinned)
  expect(new Set(Object.values(eventNumbers)).size).toBe(eventTypes.length)
  for (const number of Object.values(eventNumbers)) {
    expect(Number.isInteger(number)).toBe(true)
    expect(number).toBeGreaterThan(0)
    expect(number).toBeLessThan(256)
  }
})
