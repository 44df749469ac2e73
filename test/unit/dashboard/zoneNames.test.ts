import { expect, test } from 'vitest'
import { presentZone, presentZones } from '../../../collector/dashboard/web/view/zoneNames.ts'
import { timeZone } from '../../../collector/platform/timeZone.ts'

test.each([
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Kathmandu', 'Asia/Kathmandu'],
  ['US/Pacific', 'America/Los_Angeles'],
  ['Europe/Kyiv', 'Europe/Kyiv'],
  ['GB', 'Europe/London'],
  ['Zulu', 'UTC'],
])('%s is shown as %s', (name, present) => {
  expect(presentZone(name)).toBe(present)
})

test('pickers offer each zone once, under its present name, which the API accepts', () => {
  const zones = presentZones()
  expect(zones[0]).toBe('UTC')
  expect(new Set(zones).size).toBe(zones.length)
  for (const name of zones) {
    expect(presentZone(name), name).toBe(name)
    expect(timeZone(name), name).toBeDefined()
  }
  expect(zones).toContain('Asia/Kolkata')
  expect(zones).not.toContain('Asia/Calcutta')
})
