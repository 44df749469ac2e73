import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Config } from '../../../../collector/config.ts'
import { createIngestLimits } from '../../../../collector/ingest/beacon/ingestLimits.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const limitsOf = (eventsPerIp: number, eventsPerPixel: number) =>
  createIngestLimits({ eventsPerIp, eventsPerPixel } as Config)
const refusal = { status: 429, error: 'rate_limited' }
const visitors = { pixelId: 'pixel', isVerifiedBackend: false }
const backEnd = { pixelId: 'pixel', isVerifiedBackend: true }

test('events of an address are admitted up to its limit, each second', async () => {
  const { admit } = limitsOf(5, 0)
  await admit('192.0.2.1', 2)
  await admit('192.0.2.1', 3)
  await expect(admit('192.0.2.1', 1)).rejects.toMatchObject(refusal)
  await admit('192.0.2.2', 1)
  vi.advanceTimersByTime(1_001)
  await admit('192.0.2.1', 1)
})

test('a call may exceed the unused limit of its address, which then waits as long as the call used up', async () => {
  const { admit, requireRoomOf } = limitsOf(10, 0)
  await requireRoomOf('192.0.2.1')
  await admit('192.0.2.1', 45)
  await expect(requireRoomOf('192.0.2.1')).rejects.toMatchObject(refusal)
  vi.advanceTimersByTime(4_500)
  await expect(admit('192.0.2.1', 1)).rejects.toMatchObject(refusal)
  vi.advanceTimersByTime(501)
  await admit('192.0.2.1', 1)
  await expect(admit('192.0.2.1', 45)).rejects.toMatchObject(refusal)
})

test('no call exceeds the limit of its pixel, and a refused one uses nothing up', async () => {
  const { countStored, requireRoom } = limitsOf(0, 10)
  await countStored(visitors, 8)
  await expect(countStored(visitors, 3)).rejects.toMatchObject(refusal)
  await expect(requireRoom(visitors, 3)).rejects.toMatchObject(refusal)
  await requireRoom(visitors, 2)
  await countStored(visitors, 2)
  await countStored({ ...visitors, pixelId: 'other' }, 10)
  await expect(requireRoom(visitors, 11)).rejects.toMatchObject({ status: 413 })
  await expect(countStored(visitors, 11)).rejects.toMatchObject({ status: 413 })
})

test('visitors cannot use up the limit of back ends with a key', async () => {
  const { countStored, countAdmitted } = limitsOf(0, 10)
  await countAdmitted(visitors, 500)
  await expect(countStored(visitors, 1)).rejects.toMatchObject(refusal)
  await countStored(backEnd, 10)
})
