import { expect, test } from 'vitest'
import { cachedDevice, cachedDeviceBytes } from '../../../../collector/ingest/normalize/device.ts'

test('user agents that strangers make up take at most 8 MiB; long ones count by their beginning', () => {
  const long = 'x'.repeat(14_000)
  for (let n = 0; n < 6_000; n++) cachedDevice(`${n} ${long}`)
  expect(cachedDeviceBytes()).toBeGreaterThan(7 * 1024 * 1024)
  expect(cachedDeviceBytes()).toBeLessThanOrEqual(8 * 1024 * 1024)
  const before = cachedDeviceBytes()
  expect(cachedDevice(`5999 ${long}`)).toBe(cachedDevice(`5999 ${long.slice(1)}`))
  expect(cachedDeviceBytes()).toBe(before)
}, 600_000)
