import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Config } from '../../../../collector/config.ts'
import { createIngestLimits } from '../../../../collector/ingest/beacon/ingestLimits.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const limitsOf = (beaconsPerIp: number, beaconsPerPixel: number) =>
  createIngestLimits({ beaconsPerIp, beaconsPerPixel } as Config)
const refusal = { status: 429, error: 'rate_limited' }

test('a call of many beacons is admitted, and delays the next ones of its address', async () => {
  const limits = limitsOf(10, 1_000)
  await limits('pixel', '192.0.2.1', 50)
  await expect(limits('pixel', '192.0.2.1')).rejects.toMatchObject(refusal)
  await limits('pixel', '192.0.2.2')
  vi.advanceTimersByTime(1_001)
  await limits('pixel', '192.0.2.1')
})

test('it delays the next ones of its pixel, from any address', async () => {
  const limits = limitsOf(0, 10)
  await limits('pixel', '192.0.2.1', 50)
  await expect(limits('pixel', '192.0.2.2')).rejects.toMatchObject(refusal)
  await limits('other', '192.0.2.2')
})

test('single beacons are admitted up to the limit', async () => {
  const limits = limitsOf(2, 1_000)
  await limits('pixel', '192.0.2.1')
  await limits('pixel', '192.0.2.1', 1)
  await expect(limits('pixel', '192.0.2.1')).rejects.toMatchObject(refusal)
})
