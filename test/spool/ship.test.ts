import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { readDeadLetters } from '../../collector/ingest/shipper/deadLetters.ts'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { verifiedStartsIn } from '../../collector/ingest/shipper/shippedBatches.ts'
import { Shipper, type ShipperOptions } from '../../collector/ingest/shipper/shipper.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../harness/databases.ts'
import { recordOf } from '../harness/record.ts'
import { waitFor } from '../harness/service.ts'
import { ids, row, storedIds, writeSegment } from './segments.ts'

let directory: string
let clickhouse: ClickHouse
let postgresUrl: string
let turns: ShipLeases[]
let seen: { shipped: number; duplicates: number; deadLetters: string[]; retries: string[] }

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-ship-'))
  const [database, url] = await Promise.all([newClickHouseDatabase(), newPostgresDatabase()])
  postgresUrl = url
  turns = []
  clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  seen = { shipped: 0, duplicates: 0, deadLetters: [], retries: [] }
})
afterEach(async () => {
  for (const each of turns) each.close()
  await clickhouse.close()
  rmSync(directory, { recursive: true })
})

const openTurns = (url = postgresUrl): ShipLeases => {
  const opened = new ShipLeases(url, randomUUID())
  turns.push(opened)
  return opened
}

/** A collector's shipper, each a collector's of its own. */
const openShipper = (
  through: ClickHouse = clickhouse,
  itsTurns = openTurns(),
  more: Partial<ShipperOptions> = {},
) =>
  new Shipper({
    clickhouse: through,
    table: 'events',
    duplicates: new Deduplicator(through, itsTurns),
    deadLetterDirectory: join(directory, 'dead'),
    keepShippedMs: 60_000,
    observe: {
      shipped: (rows) => (seen.shipped += rows),
      duplicates: (lines) => (seen.duplicates += lines.length),
      deadLetter: (reason) => seen.deadLetters.push(reason),
      retry: (error) => seen.retries.push(error.message),
    },
    ...more,
  })

const segment = (rows: string[], spoolId: string = randomUUID(), firstSeq = 1) =>
  writeSegment(directory, rows, spoolId, firstSeq)
const stored = () => storedIds(clickhouse)
/** Reports the number of requested ids. */
const counting = (count: (ids: number) => void): ClickHouse => ({
  ...clickhouse,
  rows(query) {
    count((query.params as { ids?: string[] }).ids?.length ?? 0)
    return clickhouse.rows(query)
  },
})
const isIdle = (shipper: Shipper) => waitFor('the shipper', () => shipper.backlog === 0)

describe('an event is stored once', () => {
  test('however often it stands in one segment, in several, or in a later process', async () => {
    const [a, b, c] = ids(3) as [string, string, string]
    const shipper = openShipper()
    shipper.add(segment([row(a), row(b), row(a)]))
    shipper.add(segment([row(b), row(c)]))
    await isIdle(shipper)
    const later = openShipper()
    later.add(segment([row(c), row(a)]))
    await isIdle(later)
    expect(await stored()).toEqual([a, b, c])
    expect(seen).toMatchObject({ shipped: 3, duplicates: 4, retries: [] })
  })

  test('when it comes again a day later with another time', async () => {
    const [id] = ids(1)
    const shipper = openShipper()
    shipper.add(segment([row(id, Date.now() - 86_400_000)]))
    shipper.add(segment([row(id, Date.now() - 86_400_000 + 1_234)]))
    await isIdle(shipper)
    const later = openShipper()
    later.add(segment([row(id, Date.now() - 86_400_000 + 99)]))
    await isIdle(later)
    expect(await stored()).toEqual([id])
  })

  test('when its sender gives it the time of each try, before a start and after', async () => {
    const id = randomUUID()
    const old = Date.now() - 600_000
    const shipper = openShipper()
    shipper.add(
      segment([row(id, old).replace(/(?<="received_at":")[^"]+/, new Date(old).toISOString())]),
    )
    await isIdle(shipper)
    const later = openShipper()
    later.add(segment([row(id)]))
    await isIdle(later)
    expect(await stored()).toEqual([id])
  })

  test('and of ids that senders chose no more are asked for than fit into one question a segment', async () => {
    let asked = 0
    const shipper = openShipper(counting((count) => (asked += count)))
    shipper.add(segment(Array.from({ length: 3_000 }, () => row(randomUUID()))))
    await isIdle(shipper)
    // A new id in some hundreds is taken for a known one.
    expect([seen.shipped, asked >= 2_000, asked < 2_040]).toEqual([3_000, true, true])
  })

  test('in a segment so large that its ids fill several questions', async () => {
    const all = ids(7_000)
    const old = Date.now() - 86_400_000
    for (let times = 0; times < 2; times++) {
      const shipper = openShipper()
      shipper.add(segment(all.map((id) => row(id, old))))
      await isIdle(shipper)
    }
    expect(await stored()).toEqual(all)
    expect(seen).toMatchObject({ shipped: 7_000, duplicates: 7_000, retries: [] })
  })

  test('by a process that has just started, which asks for those alone that came lately or may have', async () => {
    const [known, fresh] = [ids(500), ids(500)]
    const before = openShipper()
    before.add(segment(known.map((id) => row(id))))
    await isIdle(before)
    let asked = 0
    const later = openShipper(counting((count) => (asked += count)))
    later.add(segment([...known.slice(0, 20), ...fresh].map((id) => row(id))))
    await isIdle(later)
    expect(await stored()).toEqual([...known, ...fresh].sort())
    expect(seen).toMatchObject({ shipped: 1_000, duplicates: 20, retries: [] })
    // A new id in some hundreds is taken for a known one.
    expect(asked).toBeLessThan(40)
  })

  test('when what was stored before a start cannot be read back', async () => {
    const [id, other] = ids(2) as [string, string]
    const before = openShipper()
    before.add(segment([row(id)]))
    await isIdle(before)
    const later = openShipper({
      ...clickhouse,
      stream: () => Promise.reject(new Error('too heavy')),
    })
    later.add(segment([row(id), row(other)]))
    await isIdle(later)
    expect(await stored()).toEqual([id, other])
    expect(seen).toMatchObject({ shipped: 2, duplicates: 1, retries: [] })
  })

  test('but two projects may use the same id', async () => {
    const [id] = ids(1)
    const shipper = openShipper()
    shipper.add(segment([row(id), row(id, Date.now(), randomUUID())]))
    await isIdle(shipper)
    expect(await stored()).toEqual([id, id])
  })

  test('when the answer to the insert was lost', async () => {
    const all = ids(50)
    let losses = 3
    const shipper = openShipper({
      ...clickhouse,
      insertLines: async (...args) => {
        await clickhouse.insertLines(...args)
        if (losses-- > 0) throw new Error('socket hang up')
      },
    })
    shipper.add(segment(all.map((id) => row(id))))
    await isIdle(shipper)
    expect(await stored()).toEqual(all)
    expect(seen.retries).toHaveLength(3)
  })

  test('when its process was killed before or after the insert', async () => {
    const all = ids(30)
    const spoolId = randomUUID()
    const before = segment(
      all.slice(0, 10).map((id) => row(id)),
      spoolId,
      1,
    )
    const after = segment(
      all.slice(10).map((id) => row(id)),
      spoolId,
      11,
    )
    const bytes = readFileSync(after)
    const shipper = openShipper()
    shipper.add(after)
    await isIdle(shipper)
    writeFileSync(after, bytes)

    const next = openShipper()
    next.addUncertain([before, after])
    await isIdle(next)
    expect(await stored()).toEqual(all)
  })
})

test('rows that ClickHouse lost after it confirmed them are sent again', async () => {
  const all = ids(20)
  const path = segment(all.map((id) => row(id)))
  const shipper = openShipper()
  shipper.add(path)
  await isIdle(shipper)
  await clickhouse.command({
    sql: 'ALTER TABLE events DELETE WHERE event_id IN {lost:Array(UUID)} SETTINGS mutations_sync = 2',
    params: { lost: all.slice(5) },
  })
  expect(await stored()).toHaveLength(5)

  const next = openShipper()
  next.addUncertain([path.replace(/seg$/, 'done')])
  await isIdle(next)
  expect(await stored()).toEqual(all)
})

test('a new process searches for shipped rows only if ClickHouse has restarted since they were there', async () => {
  const path = segment(ids(20).map((id) => row(id)))
  const file = join(directory, 'starts.json')
  const shipper = openShipper(clickhouse, openTurns(), { verified: verifiedStartsIn(file) })
  shipper.add(path)
  await isIdle(shipper)
  await shipper.noticeRestart()
  const done = path.replace(/seg$/, 'done')
  const open = () => {
    let searches = 0
    const through: ClickHouse = {
      ...clickhouse,
      rows: (query) => {
        if (query.sql.includes('spool_id')) searches++
        return clickhouse.rows(query)
      },
    }
    const next = openShipper(through, openTurns(), { verified: verifiedStartsIn(file) })
    next.addUncertain([done])
    // The watermark does not go back, and waits for no search.
    const { lowMark } = next
    return { next, lowMark, searches: () => searches }
  }
  const same = open()
  expect(same.lowMark).toBe(Infinity)
  expect(same.next.knowsDoubtful).toBe(false)
  expect(same.next.repeatsFrom).toBeLessThan(Date.now())
  await same.next.noticeRestart()
  expect(same.next.backlog).toBe(0)
  expect(same.next.knowsDoubtful).toBe(true)
  expect(same.searches()).toBe(0)

  const starts = JSON.parse(readFileSync(file, 'utf8')) as number[]
  writeFileSync(file, JSON.stringify(starts.map((at) => at - 60)))
  const restarted = open()
  await restarted.next.noticeRestart()
  expect(restarted.next.lowMark).toBeLessThan(Date.now())
  await isIdle(restarted.next)
  expect(restarted.searches()).toBe(1)
  expect(restarted.next.lowMark).toBe(Infinity)
  await restarted.next.noticeRestart()
  // ClickHouse rounds its uptime, so a start may be a second off.
  const noted = JSON.parse(readFileSync(file, 'utf8')) as number[]
  expect(noted.every((at, shard) => Math.abs(at - starts[shard]!) <= 1)).toBe(true)
})

test('shipped segments are kept while ClickHouse does not answer, because it may have lost them', async () => {
  let isAway = false
  const server: ClickHouse = {
    ...clickhouse,
    rows: (query) =>
      isAway ? Promise.reject(new Error('socket hang up')) : clickhouse.rows(query),
  }
  const through = { ...server, shards: [server] }
  const shipper = openShipper(through, openTurns(), { keepShippedMs: 2_000 })
  const path = segment([row()])
  const done = path.replace(/seg$/, 'done')
  shipper.add(path)
  await isIdle(shipper)
  isAway = true
  await expect(shipper.noticeRestart()).rejects.toThrow('socket hang up')
  await delay(3_000)
  expect(existsSync(done)).toBe(true)
  isAway = false
  await shipper.noticeRestart()
  await waitFor('the segment to go', () => !existsSync(done))
})

test('what was shipped before a restart is found while others wait for a turn that never comes', async () => {
  const all = ids(20)
  const path = segment(all.map((id) => row(id)))
  const shipper = openShipper()
  shipper.add(path)
  await isIdle(shipper)

  const turn = await openTurns().acquire(new Uint32Array())
  const next = openShipper()
  next.add(segment([row()]))
  next.addUncertain([path.replace(/seg$/, 'done')])
  expect(next.backlog).toBe(2)
  await waitFor('all but the one without a turn', () => next.backlog === 1)
  expect(await stored()).toEqual(all)
  await turn.release()
  await isIdle(next)
  expect(await stored()).toHaveLength(21)
})

test('a record that the disk has changed costs no other, and its rows are kept with the reason', async () => {
  const all = ids(4)
  const spoolId = randomUUID()
  const path = segment([row(all[0]!)], spoolId)
  const [changed, whole] = [
    recordOf([row(all[1]!), row(all[2]!)], spoolId, 2),
    recordOf([row(all[3]!)], spoolId, 4),
  ]
  changed[100]! ^= 1
  appendFileSync(path, Buffer.concat([changed, whole]))
  const shipper = openShipper()
  shipper.add(path)
  await isIdle(shipper)
  expect(await stored()).toEqual([all[0], all[3]])
  const letters = readDeadLetters(join(directory, 'dead')).flatMap((file) => file.letters)
  expect(letters.map((letter) => letter.row)).toEqual(
    changed.toString().trimEnd().split('\n').slice(1),
  )
  expect(seen.deadLetters).toEqual(letters.map(({ reason }) => reason))
  expect(seen.deadLetters[0]).toContain('has changed')
})

test('a row that ClickHouse refuses costs no other row, and is kept with the reason', async () => {
  const all = ids(100)
  const spoiled = row().replace(/"ts_millis":\d+/, '"ts_millis":"x"')
  const rows = all.map((id) => row(id))
  rows.splice(37, 0, spoiled)
  rows.splice(80, 0, row().replace('"is_bot":true', '"is_bot":"maybe"'))
  const [behind] = ids(1)
  const shipper = openShipper()
  shipper.add(segment(rows))
  shipper.add(segment([row(behind)]))
  await isIdle(shipper)
  expect(await stored()).toEqual([...all, behind].sort())
  const [file] = readdirSync(join(directory, 'dead'))
  const letters = readFileSync(join(directory, 'dead', file!), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(letters).toHaveLength(2)
  expect(letters[0]).toMatchObject({
    table: 'events',
    reason: expect.stringMatching(/ts_millis|parse/i),
  })
  expect(JSON.parse(letters[0].row)).toMatchObject({ ts_millis: 'x' })
})

test('a connection that breaks while a refused row is looked for loses none of its neighbours', async () => {
  const all = ids(40)
  const spoiled = row().replace(/"ts_millis":\d+/, '"ts_millis":"x"')
  let breaks = 5
  const shipper = openShipper({
    ...clickhouse,
    insertLines: async (...args) => {
      if (seen.deadLetters.length > 0 && breaks-- > 0) throw new Error('socket hang up')
      await clickhouse.insertLines(...args)
    },
  })
  shipper.add(segment([spoiled, ...all.map((id) => row(id))]))
  await isIdle(shipper)
  expect(await stored()).toEqual(all)
  expect(seen.deadLetters).toHaveLength(1)
  expect(seen.retries).toHaveLength(5)
})

test('while ClickHouse is away segments wait, and then come in order', async () => {
  let isAway = true
  const shipper = openShipper({
    ...clickhouse,
    insertLines: (...args) =>
      isAway ? Promise.reject(new Error('connect ECONNREFUSED')) : clickhouse.insertLines(...args),
  })
  const all = ids(3)
  for (const id of all) shipper.add(segment([row(id)]))
  await waitFor('a retry', () => seen.retries.length >= 2)
  expect(shipper.backlog).toBe(3)
  isAway = false
  await isIdle(shipper)
  expect(await stored()).toEqual(all)
})

test('a stopped shipper leaves what it did not ship', async () => {
  const shipper = openShipper({
    ...clickhouse,
    insertLines: () => Promise.reject(new Error('connect ECONNREFUSED')),
  })
  const path = segment([row()])
  shipper.add(path)
  await waitFor('a retry', () => seen.retries.length > 0)
  await shipper.stop(50)
  expect(readdirSync(directory)).toContain(path.split('/').at(-1))
})
