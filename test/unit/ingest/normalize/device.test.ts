import { expect, test } from 'vitest'
import { knownDevice, knownDeviceBytes } from '../../../../collector/ingest/normalize/device.ts'

test('user agents that strangers make up take at most 8 MiB; long ones count by their beginning', () => {
  const long = 'x'.repeat(14_000)
  for (let n = 0; n < 6_000; n++) knownDevice(`${n} ${long}`)
  expect(knownDeviceBytes()).toBeGreaterThan(7 * 1024 * 1024)
  expect(knownDeviceBytes()).toBeLessThanOrEqual(8 * 1024 * 1024)
  const before = knownDeviceBytes()
  expect(knownDevice(`5999 ${long}`)).toBe(knownDevice(`5999 ${long.slice(1)}`))
  expect(knownDeviceBytes()).toBe(before)
}, 600_000)
