/** Shards are added, and pixels move between them, while events arrive and reads go on. */
import { randomUUID, type UUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import { addShards } from '../../collector/ops/shards/addShards.ts'
import { movePixel } from '../../collector/ops/shards/movePixel.ts'
import { recordPlaces } from '../../collector/ops/shards/recordPlaces.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openDatabase, openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { deleteRows } from '../../collector/platform/clickhouse/deleteRows.ts'
import { migrateDatabases } from '../../collector/platform/clickhouse/migrateDatabases.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { documentedGrants, type Shards, startShards } from '../harness/shards.ts'
import { ids, row, writeSegment } from '../spool/segments.ts'

let directory: string
let shards: Shards
let postgresUrl: string
let postgres: Postgres
/** As processes with the settings of all three shards, and of the first two. */
let all: ClickHouse
let firstTwo: ClickHouse

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-moving-'))
  shards = await startShards(directory, 3, { first: 2, grants: documentedGrants() })
  postgresUrl = await newPostgresDatabase()
  postgres = openPostgres(postgresUrl, () => {})
  await migrateDatabases(shards.firstShards, shards.database, postgres, () => {})
  firstTwo = openForShipping(shards.firstShards, shards.database, postgres)
  all = openForShipping(shards.cluster, shards.database, postgres)
}, 120_000)
afterAll(async () => {
  await Promise.all([all.close(), firstTwo.close()])
  await postgres.end()
  await shards.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A collector that ships segments, and the ids of all events that it has shipped. */
function openCollector(clickhouse: ClickHouse) {
  const leases = new ShipLeases(postgresUrl, randomUUID())
  const retries: string[] = []
  const shipper = new Shipper({
    clickhouse,
    table: 'events',
    duplicates: new Deduplicator(clickhouse, leases),
    deadLetterDirectory: join(directory, 'dead'),
    keepShippedMs: 60_000,
    observe: {
      shipped: () => {},
      duplicates: () => {},
      deadLetter: (reason) => expect.fail(reason),
      retry: (error) => retries.push(error.message),
    },
  })
  const add = (rows: string[]) => shipper.add(writeSegment(directory, rows, randomUUID(), 1))
  return {
    retries,
    add,
    async ship(rows: string[]): Promise<void> {
      add(rows)
      await waitFor('the rows to be shipped', () => shipper.backlog === 0, 120_000)
    },
    async close() {
      await shipper.stop(0)
      leases.close()
    },
  }
}

const rowsOf = (eventIds: readonly string[], pixels: readonly UUID[], projectId: UUID) =>
  eventIds.map((id, n) =>
    row(id, Date.now() - (n % 50) * 3_600_000, projectId, pixels[n % pixels.length]),
  )

/** The shards, from 1, that have events of a pixel. */
async function shardsOf(pixelId: string, of: ClickHouse = all): Promise<number[]> {
  const counts = await Promise.all(
    of.shards.map((shard) =>
      shard.rows<{ events: number }>({
        sql: 'SELECT count() AS events FROM events_local WHERE pixel_id = {pixelId:UUID}',
        params: { pixelId },
      }),
    ),
  )
  return counts.flatMap(([counted], index) => (counted!.events > 0 ? [index + 1] : []))
}

const idsOf = async (clickhouse: ClickHouse, pixelId: string): Promise<string[]> =>
  (
    await clickhouse.rows<{ event_id: string }>({
      sql: 'SELECT event_id FROM {events:Identifier} WHERE pixel_id = {pixelId:UUID}',
      params: { events: 'events', pixelId },
      pixelId,
    })
  ).map(({ event_id }) => event_id)

/** Reads all events and a dictionary of their servers again and again. Returns the number of reads; throws if one fails. */
async function readUntil(end: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = () => (isOver = true)
  end.then(over, over)
  let reads = 0
  for (; !isOver; reads++)
    await firstTwo.rows({
      sql: `SELECT count() AS events FROM {events:Identifier}
            WHERE NOT dictHas('${shards.database}.identity_by_cookie', (organization_id, cookie_id))`,
      params: { events: 'events' },
    })
  return reads
}

const setWeights = (...weights: number[]) =>
  Promise.all(
    weights.map((weight, position) =>
      postgres.query('UPDATE clickhouse_shards SET weight = $1 WHERE position = $2', [
        weight,
        position,
      ]),
    ),
  )

test('a shard is added while events arrive: pixels stay, and new ones follow the weights', async () => {
  const projectId = randomUUID()
  const pixels = Array.from({ length: 12 }, () => randomUUID())
  const collector = openCollector(firstTwo)
  const shipped = ids(240)
  await collector.ship(rowsOf(shipped, pixels, projectId))
  const before = await Promise.all(pixels.map((pixel) => shardsOf(pixel, firstTwo)))
  expect(new Set(before.flat())).toEqual(new Set([1, 2]))

  await expect(
    migrateDatabases(shards.cluster, shards.database, postgres, () => {}),
  ).rejects.toThrow(
    /names 3 shards, but events are on 2: to add the others, run npx footfall shards add/,
  )
  const adding = addShards(postgres, all, shards.cluster)
  const reading = readUntil(adding)
  const meanwhile = ids(120)
  await collector.ship(rowsOf(meanwhile, pixels, projectId))
  expect(await adding).toEqual([3])
  expect(await reading).toBeGreaterThan(0)
  await migrateDatabases(shards.cluster, shards.database, postgres, () => {})
  await expect(addShards(postgres, all, shards.cluster)).rejects.toThrow(
    'CLICKHOUSE_SHARDS names 3 shards, and events are on 3',
  )

  // The collector with the settings of two shards goes on, because the new shard has the weight 0.
  const newPixels = Array.from({ length: 8 }, () => randomUUID())
  await collector.ship(rowsOf(ids(80), [...pixels, ...newPixels], projectId))
  expect(await Promise.all(pixels.map((pixel) => shardsOf(pixel)))).toEqual(before)
  for (const pixel of newPixels) expect([[1], [2]]).toContainEqual(await shardsOf(pixel))

  await setWeights(0, 0, 1)
  const third = randomUUID()
  collector.add(rowsOf(ids(10), [third], projectId))
  await waitFor('the collector to ask for a restart', () =>
    collector.retries.some((retry) => /belong to shard 3.*restart it with all shards/.test(retry)),
  )
  await collector.close()
  const restarted = openCollector(all)
  await restarted.ship(rowsOf(ids(10), [third], projectId))
  expect(await shardsOf(third)).toEqual([3])
  expect(await idsOf(all, third)).toHaveLength(10)
  await restarted.close()
  await setWeights(1, 1, 1)
}, 300_000)

test('a pixel moves while events arrive and are erased, and every read in between is exact', async () => {
  const projectId = randomUUID()
  const [moving, staying] = [randomUUID(), randomUUID()]
  const pixels = [moving, staying]
  const collector = openCollector(all)
  const reader = openDatabase(shards.cluster, shards.database, { postgres })
  const first = ids(20_000)
  await collector.ship(rowsOf(first, pixels, projectId))
  const known = first.filter((_, n) => n % 2 === 0)
  const [from] = await shardsOf(moving)
  const to = from === 3 ? 1 : 3

  let isMoving = true
  const arriving = (async () => {
    while (isMoving) {
      const next = ids(100)
      await collector.ship(rowsOf(next, pixels, projectId))
      known.push(...next.filter((_, n) => n % 2 === 0))
      await delay(50)
    }
  })()
  const erased = known.slice(0, 500)
  let reads = 0
  const reading = (async () => {
    while (isMoving) {
      const expected = known.slice(erased.length)
      const direct = await idsOf(reader, moving)
      const ofProject = await reader.rows<{ event_id: string }>({
        sql: `SELECT event_id FROM events
              WHERE project_id = {projectId:UUID} AND pixel_id = {moving:UUID}`,
        params: { projectId, moving },
      })
      for (const found of [direct, ofProject.map(({ event_id }) => event_id)]) {
        const set = new Set(found)
        expect(found).toHaveLength(set.size)
        expect(expected.filter((id) => !set.has(id))).toEqual([])
      }
      const [counts] = await reader.rows<{ rows: number; ids: number }>({
        sql: 'SELECT count() AS rows, uniqExact(event_id) AS ids FROM events WHERE project_id = {projectId:UUID}',
        params: { projectId },
      })
      expect(counts!.rows).toBe(counts!.ids)
      reads++
    }
  })()
  const messages: string[] = []
  const erasing = (async () => {
    await waitFor('the copy', () => messages.length > 0, 60_000)
    const condition = { sql: 'event_id IN {erased:Array(UUID)}', params: { erased } }
    while (await deleteRows(reader, 'events', condition)) await delay(100)
  })()
  try {
    await movePixel({ postgres, clickhouse: all }, { pixelId: moving, to: to - 1 }, (message) =>
      messages.push(message),
    )
    await erasing
  } finally {
    isMoving = false
    await Promise.all([arriving, reading])
  }
  expect(reads).toBeGreaterThan(20)
  expect(messages.at(-1)).toBe(`pixel ${moving} is on shard ${to} now`)
  expect(await shardsOf(moving)).toEqual([to])
  expect((await idsOf(reader, moving)).toSorted()).toEqual(known.slice(erased.length).toSorted())
  const again: string[] = []
  await movePixel({ postgres, clickhouse: all }, { pixelId: moving, to: to - 1 }, (message) =>
    again.push(message),
  )
  expect(again).toEqual([`pixel ${moving} is on shard ${to} already`])
  await collector.close()
  await reader.close()
}, 300_000)

test('an interrupted move hides its copy, and is continued or cancelled', async () => {
  const projectId = randomUUID()
  const pixelId = randomUUID()
  const collector = openCollector(all)
  const reader = openDatabase(shards.cluster, shards.database, { postgres })
  const shipped = ids(3_000)
  await collector.ship(rowsOf(shipped, [pixelId], projectId))
  const [from] = await shardsOf(pixelId)
  const to = (from! % 3) + 1
  const stores = { postgres, clickhouse: all }
  const interrupted = () =>
    movePixel(stores, { pixelId, to: to - 1 }, (message) => {
      if (message.includes('copied')) throw new Error('killed')
    })
  const expectAll = async () => {
    expect((await idsOf(reader, pixelId)).toSorted()).toEqual(shipped)
    const [counts] = await reader.rows<{ rows: number }>({
      sql: 'SELECT count() AS rows FROM events WHERE project_id = {projectId:UUID}',
      params: { projectId },
    })
    expect(counts!.rows).toBe(shipped.length)
  }
  await expect(interrupted()).rejects.toThrow('killed')
  expect(await shardsOf(pixelId)).toHaveLength(2)
  await expect(recordPlaces(postgres, all, all.shards)).rejects.toThrow(
    new RegExp(`pixel ${pixelId} has events on the shards \\d and \\d`),
  )
  await expectAll()
  const other = [1, 2, 3].find((shard) => shard !== from && shard !== to)!
  await expect(movePixel(stores, { pixelId, to: other - 1 }, () => {})).rejects.toThrow(
    `pixel ${pixelId} is being moved to shard ${to}: end this move first, with --to ${to}`,
  )
  await movePixel(stores, { pixelId, to: from! - 1 }, () => {})
  expect(await shardsOf(pixelId)).toEqual([from])
  await expectAll()

  await expect(interrupted()).rejects.toThrow('killed')
  await movePixel(stores, { pixelId, to: to - 1 }, () => {})
  expect(await shardsOf(pixelId)).toEqual([to])
  await delay(2_500)
  await expectAll()
  await expect(movePixel(stores, { pixelId: randomUUID(), to: 0 }, () => {})).rejects.toThrow(
    'has no events',
  )
  await collector.close()
  await reader.close()
}, 300_000)
