import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readOldestAt } from '../../../../collector/ingest/spool/segmentFile.ts'
import {
  Spool,
  type SpoolOptions,
  SpoolUnavailable,
} from '../../../../collector/ingest/spool/spool.ts'
import { waitFor } from '../../../harness/service.ts'

let directory: string
let sealed: string[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  sealed = []
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true })
})

const open = (options: Partial<SpoolOptions> = {}) =>
  new Spool({
    directory,
    segmentBytesMax: 1_000_000,
    sealAfterMs: 60_000,
    bytesMax: 10_000_000,
    onSealed: (path) => sealed.push(path),
    ...options,
  })
const rowOf = (receivedAt: number) => `{"received_at":"${new Date(receivedAt).toISOString()}"}`

test('the low mark of a spool is its oldest row that is not sealed: waiting, being written or written', async () => {
  const spool = open()
  const first = spool.receive()
  await waitFor('the next millisecond', () => Date.now() > first)
  const appended = spool.append([rowOf(first)], first)
  expect(spool.lowMark()).toBe(first)
  await appended
  const second = spool.receive()
  expect(second).toBeGreaterThan(first)
  const more = spool.append([rowOf(second)], second)
  expect(spool.lowMark()).toBe(first)
  await more
  expect(spool.lowMark()).toBe(first)
  await spool.close()
  expect(sealed).toHaveLength(1)
  expect(readOldestAt(sealed[0]!)).toBe(first)
  expect(spool.lowMark()).toBeGreaterThan(second - 1)
})

test('the low mark is known before a segment is given away, and of what is sealed no more', async () => {
  let markWhenSealed = 0
  const spool: Spool = open({
    segmentBytesMax: 1,
    onSealed: () => {
      markWhenSealed = spool.lowMark()
    },
  })
  const at = spool.receive()
  await waitFor('the next millisecond', () => Date.now() > at)
  await spool.append([rowOf(at)], at)
  await waitFor('the segment', () => markWhenSealed > 0)
  await waitFor('the next mark', () => spool.lowMark() > at)
})

test('what says an earlier time than a mark that was told is refused, and time never goes back', async () => {
  const inAnHour = Date.now() + 3_600_000
  const spool = open({ receivedFrom: inAnHour })
  expect(spool.receive()).toBe(inAnHour)
  expect(spool.lowMark()).toBe(inAnHour)
  await expect(spool.append(['{"a":1}'], inAnHour - 1)).rejects.toBeInstanceOf(SpoolUnavailable)
  await spool.append(['{"a":1}'], inAnHour)
})

test('a time that ran ahead goes back once the shared clock is known, into a segment of its own', async () => {
  let latest = Infinity
  const real = Date.now()
  const spool = open({ clock: { latest: () => latest } })
  vi.spyOn(Date, 'now').mockReturnValue(real + 3_600_000)
  const ahead = spool.receive()
  expect(ahead).toBe(real + 3_600_000)
  await spool.append([rowOf(ahead)], ahead)
  spool.notePublished(real - 1_000)
  latest = real
  const repaired = spool.receive()
  expect(repaired).toBe(real + 5_000)
  expect(spool.lowMark()).toBe(repaired)
  await spool.append([rowOf(repaired)], repaired)
  expect(spool.lowMark()).toBe(repaired)
  await spool.close()
  expect(sealed.map(readOldestAt)).toEqual([ahead, repaired])
})

test('a time that ran ahead never goes back to before what readers have read', async () => {
  let latest = Infinity
  const spool = open({ clock: { latest: () => latest } })
  const ahead = Date.now() + 3_600_000
  vi.spyOn(Date, 'now').mockReturnValue(ahead)
  spool.receive()
  await nextTurn()
  spool.notePublished(ahead - 1)
  latest = ahead - 1_800_000
  vi.restoreAllMocks()
  expect(spool.receive()).toBe(ahead - 1)
})

test('beacons of one turn of the event loop share a time, and may append in any order', async () => {
  const spool = open()
  const first = spool.receive()
  while (Date.now() === first) {}
  const second = spool.receive()
  await Promise.all([spool.append([rowOf(second)], second), spool.append([rowOf(first)], first)])
  expect(spool.receive()).toBeGreaterThan(first)
  await spool.close()
})
