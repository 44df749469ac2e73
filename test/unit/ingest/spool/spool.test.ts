import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeSegment } from '../../../../collector/ingest/spool/frame.ts'
import { recoverSegments } from '../../../../collector/ingest/spool/segmentFile.ts'
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
afterEach(() => rmSync(directory, { recursive: true }))

const open = (options: Partial<SpoolOptions> = {}) =>
  new Spool({
    directory,
    segmentBytesMax: 1_000_000,
    sealAfterMs: 60_000,
    bytesMax: 10_000_000,
    onSealed: (path) => sealed.push(path),
    ...options,
  })

const linesOf = (path: string) =>
  Buffer.concat(decodeSegment(readFileSync(path)).payloads)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const onlyFile = () => join(directory, readdirSync(directory)[0]!)

test('an appended row is in the file when append resolves, with its place in the spool', async () => {
  const spool = open()
  await spool.append(['{"a":1}', '{"a":2}'])
  expect(linesOf(onlyFile())).toEqual([
    { spool_id: spool.spoolId, seq: 1, a: 1 },
    { spool_id: spool.spoolId, seq: 2, a: 2 },
  ])
})

test('appends that arrive together share one record', async () => {
  const spool = open()
  await Promise.all(Array.from({ length: 50 }, (_, n) => spool.append([`{"n":${n}}`])))
  const { payloads, rows } = decodeSegment(readFileSync(onlyFile()))
  expect(rows).toBe(50)
  expect(payloads.length).toBeLessThan(5)
})

test('a full segment is sealed and the next begins', async () => {
  const spool = open({ segmentBytesMax: 200 })
  for (let n = 0; n < 3; n++) await spool.append([`{"text":"${'x'.repeat(200)}"}`])
  await waitFor('the seals', () => sealed.length === 3)
  expect(sealed.flatMap(linesOf).map((row) => row.seq)).toEqual([1, 2, 3])
})

test('a segment is sealed when it is old enough, but not while others wait to be shipped', async () => {
  const spool = open({ sealAfterMs: 20 })
  const waiting = join(directory, 'earlier.0000000000000001.seg')
  writeFileSync(waiting, '')
  await spool.append(['{"a":1}'])
  await delay(80)
  expect(sealed).toHaveLength(0)
  rmSync(waiting)
  await waitFor('the seal', () => sealed.length === 1)
})

/** Spools whose segments are shipped at once, each in a directory of its own, and how long a row waited for that. */
function openShipped(sealAfterMs: number, segmentBytesMax = 10_000_000) {
  const shippedAt: number[] = []
  const own = mkdtempSync(join(directory, 'own-'))
  const onSealed = (path: string) => {
    rmSync(path)
    shippedAt.push(performance.now())
  }
  const spool = open({
    directory: own,
    sealAfterMs,
    segmentBytesMax,
    bytesMax: 100_000_000,
    onSealed,
  })
  const shippedAfterMs = async (text: string) => {
    const before = shippedAt.length
    // Not from its acknowledgement, for which a busy disk takes its time: a segment's age begins before that.
    const from = performance.now()
    await spool.append([`{"text":"${text}"}`])
    await waitFor('the seal', () => shippedAt.length > before)
    return shippedAt[before]! - from
  }
  return { spool, shippedAfterMs }
}

test('a segment that fills fast is sealed half as often', async () => {
  const [large, small] = await Promise.all([
    openShipped(400).shippedAfterMs('x'.repeat(2 ** 20)),
    openShipped(400).shippedAfterMs('x'),
  ])
  expect(large).toBeGreaterThan(750)
  expect(small).toBeLessThan(large)
})

test('a segment that follows a full one is as old as any when it is sealed', async () => {
  const { spool, shippedAfterMs } = openShipped(400, 500)
  await spool.append(['{"a":1}'])
  // Its timer is to have run for a while when the next segment begins.
  await delay(200)
  await shippedAfterMs('x'.repeat(500))
  expect(await shippedAfterMs('x')).toBeGreaterThan(380)
})

test('what a killed process left is sealed without its torn tail', async () => {
  await open().append(['{"kept":true}'])
  appendFileSync(onlyFile(), '#000000ff 00000000 00000001\n{"torn":')
  expect(recoverSegments(directory).flatMap(linesOf)).toMatchObject([{ kept: true }])
})

test('a segment with nothing whole in it is removed at the next start', () => {
  writeFileSync(join(directory, 'x.0000000000000001.open'), '#0000')
  expect(recoverSegments(directory)).toEqual([])
  expect(readdirSync(directory)).toEqual([])
})

test('no two starts give the same place to two rows', async () => {
  const first = open()
  await first.append(['{"a":1}'])
  await first.close()
  const second = open()
  await second.append(['{"a":1}'])
  await second.close()
  const places = [...new Set(sealed)].flatMap(linesOf).map((row) => `${row.spool_id} ${row.seq}`)
  expect(new Set(places).size).toBe(2)
})

test('a full spool refuses, and takes again when segments are gone', async () => {
  const spool = open({ bytesMax: 300, segmentBytesMax: 200 })
  await spool.append([`{"text":"${'x'.repeat(300)}"}`])
  await expect(spool.append(['{"a":1}'])).rejects.toBeInstanceOf(SpoolUnavailable)
  await waitFor('the seal', () => sealed.length === 1)
  for (const path of sealed) rmSync(path)
  await waitFor('room', () => !spool.isFull)
  await spool.append(['{"a":1}'])
})

test('a closed spool refuses', async () => {
  const spool = open()
  await spool.close()
  await expect(spool.append(['{"a":1}'])).rejects.toBeInstanceOf(SpoolUnavailable)
})
