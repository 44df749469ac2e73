/** While a shard is away, events of the other shards' pixels are stored; its own wait, and are stored once. */
import { randomUUID, type UUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { type Shards, startShards } from '../harness/shards.ts'
import { ids, row, writeSegment } from '../spool/segments.ts'

const waitMs = 120_000
/** The shard that stays, and the one that goes away. */
const [here, gone] = [0, 1]

let stores: string
let shards: Shards
let postgresUrl: string
let postgres: Postgres
let clickhouse: ClickHouse
beforeAll(async () => {
  stores = mkdtempSync(join(tmpdir(), 'footfall-away-'))
  shards = await startShards(stores, 2)
  postgresUrl = await newPostgresDatabase()
  postgres = openPostgres(postgresUrl, () => {})
  await migrateClickHouse(shards.cluster, shards.database)
  clickhouse = openForShipping(shards.cluster, shards.database, postgres)
}, waitMs)
afterAll(async () => {
  await shards.stop()
  await clickhouse.close()
  await postgres.end()
  rmSync(stores, { recursive: true, force: true })
})

let directory: string
let collectors: { shipper: Shipper; close(): Promise<void> }[]
let seen: { shipped: number; duplicates: number }
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-ship-'))
  collectors = []
  seen = { shipped: 0, duplicates: 0 }
})
afterEach(async () => {
  await Promise.all(collectors.map((collector) => collector.close()))
  rmSync(directory, { recursive: true })
  for (const shard of clickhouse.shards)
    await shard.command({ sql: 'TRUNCATE TABLE events_local', params: {} })
}, waitMs)

function startCollector() {
  const leases = new ShipLeases(postgresUrl, randomUUID())
  const shipper = new Shipper({
    clickhouse,
    table: 'events',
    duplicates: new Deduplicator(clickhouse, leases),
    deadLetterDirectory: join(directory, 'dead'),
    keepShippedMs: 60_000,
    observe: {
      shipped: (rows) => (seen.shipped += rows),
      duplicates: (lines) => (seen.duplicates += lines.length),
      deadLetter: (reason) => expect.fail(reason),
      retry: () => {},
    },
  })
  const collector = {
    shipper,
    async close() {
      await shipper.stop(0)
      leases.close()
    },
  }
  collectors.push(collector)
  return collector
}

/** A project with a pixel on each of these shards. */
async function newProject(...places: number[]) {
  const [organizationId, projectId] = [randomUUID(), randomUUID()]
  await postgres.query("INSERT INTO organizations (organization_id, name) VALUES ($1, 'Away')", [
    organizationId,
  ])
  await postgres.query(
    "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'Away')",
    [projectId, organizationId],
  )
  const pixels: UUID[] = []
  for (const place of places) {
    let pixelId = randomUUID()
    while ((await clickhouse.placement!.shardOf(pixelId)) !== place) pixelId = randomUUID()
    await postgres.query(
      "INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, 'Away')",
      [pixelId, projectId],
    )
    pixels.push(pixelId)
  }
  return {
    projectId,
    pixels,
    /** Rows of these ids for one of its pixels. */
    rows: (all: readonly string[], pixel = 0) =>
      all.map((id) => row(id, Date.now(), projectId, pixels[pixel])),
  }
}

const segment = (rows: string[]) => writeSegment(directory, rows, randomUUID(), 1)

async function storedOn(shard: number): Promise<string[]> {
  const rows = await clickhouse.shards[shard]!.rows<{ event_id: string }>({
    sql: 'SELECT event_id FROM events_local',
    params: {},
  })
  return rows.map(({ event_id }) => event_id)
}

/** Waits until a shard has exactly these events, each once. */
async function untilStored(shard: number, all: readonly string[]): Promise<void> {
  await waitFor(
    `${all.length} events on shard ${shard + 1}`,
    async () => (await storedOn(shard).catch(() => [])).length >= all.length,
    waitMs,
  )
  expect((await storedOn(shard)).toSorted()).toEqual([...all].toSorted())
}

const untilIdle = (shipper: Shipper) => waitFor('the shipper', () => shipper.backlog === 0, waitMs)

test('a shard away delays its own events alone, also over a restart of the collector', async () => {
  const [ofHere, ofGone] = [await newProject(here), await newProject(gone)]
  const first = startCollector()
  const [stays, waits] = [ids(100), ids(100)]
  // The ids that a start reads back are known, so later ones are no suspects.
  first.shipper.add(
    segment([...ofHere.rows(stays.slice(0, 10)), ...ofGone.rows(waits.slice(0, 10))]),
  )
  await untilIdle(first.shipper)

  const back = await shards.takeAway(gone)
  // Every event arrives twice, in other segments.
  for (let from = 10; from < 50; from += 10) {
    const [a, b] = [stays.slice(from, from + 10), waits.slice(from, from + 10)]
    first.shipper.add(segment([...ofHere.rows(a), ...ofGone.rows(b)]))
    first.shipper.add(segment([...ofGone.rows(b), ...ofHere.rows(a)]))
  }
  await untilStored(here, stays.slice(0, 50))
  await waitFor('the queue to be empty', () => first.shipper.queued === 0, waitMs)
  expect(first.shipper.backlog).toBe(8)
  expect(first.shipper.lowMark).toBeLessThan(Date.now())
  // What waits stays in the spool.
  const left = () => readdirSync(directory).filter((name) => name.endsWith('.seg'))
  expect(left()).toHaveLength(8)
  await first.close()

  const second = startCollector()
  second.shipper.addUncertain(left().map((name) => join(directory, name)))
  for (let from = 40; from < 100; from += 10) {
    const [a, b] = [stays.slice(from, from + 10), waits.slice(from, from + 10)]
    second.shipper.add(segment([...ofHere.rows(a), ...ofGone.rows(b)]))
  }
  await untilStored(here, stays)
  back()
  await untilIdle(second.shipper)
  await untilStored(gone, waits)
  await untilStored(here, stays)
  expect(left()).toEqual([])
}, 300_000)

test('an id that may be on the shard that is away waits for it, and one that cannot be there does not', async () => {
  const both = await newProject(here, gone)
  const alone = await newProject(here)
  const { shipper } = startCollector()
  const [known, repeated, decided] = [ids(5), ids(5), ids(5)]
  shipper.add(segment([...both.rows(known, 1), ...alone.rows(decided.slice(0, 2))]))
  await untilIdle(shipper)

  const back = await shards.takeAway(gone)
  // Another pixel of the project repeats ids that are on the shard that is away, or wait for it.
  shipper.add(segment([...both.rows(known, 0), ...both.rows(repeated, 1)]))
  shipper.add(segment([...both.rows(repeated, 0), ...alone.rows(decided)]))
  // Without the other pixel, the project would be of one shard alone. Its events stay.
  await postgres.query('DELETE FROM pixels WHERE pixel_id = $1', [both.pixels[1]])
  shipper.add(segment(both.rows(known, 0)))
  await untilStored(here, decided)
  await waitFor('the queue to be empty', () => shipper.queued === 0, waitMs)
  expect(seen.duplicates).toBe(2)

  back()
  await untilIdle(shipper)
  const stored = [...(await storedOn(here)), ...(await storedOn(gone))]
  expect(stored.toSorted()).toEqual([...known, ...repeated, ...decided].toSorted())
  expect(await storedOn(here)).toEqual(expect.arrayContaining(decided))
  expect((await storedOn(gone)).toSorted()).toEqual(expect.arrayContaining(known))
}, 300_000)

test('a shard that hangs in the midst of inserts delays its own events alone', async () => {
  const [ofHere, ofGone] = [await newProject(here), await newProject(gone)]
  const { shipper } = startCollector()
  const [stays, waits] = [ids(400), ids(400)]
  const add = (from: number, to: number) =>
    shipper.add(
      segment([...ofHere.rows(stays.slice(from, to)), ...ofGone.rows(waits.slice(from, to))]),
    )
  add(0, 100)
  await untilIdle(shipper)
  for (let from = 100; from < 200; from += 10) add(from, from + 10)
  await waitFor('some to be shipped', () => seen.shipped > 200, waitMs)
  const server = shards.servers[gone]!.pid()!
  process.kill(server, 'SIGSTOP')
  try {
    for (let from = 200; from < 400; from += 50) add(from, from + 50)
    await untilStored(here, stays)
  } finally {
    process.kill(server, 'SIGCONT')
  }
  await untilIdle(shipper)
  await untilStored(gone, waits)
  await untilStored(here, stays)
}, 300_000)

test('no lease forgets a shard on which an insert may still run', async () => {
  const [one, other] = [
    new ShipLeases(postgresUrl, randomUUID()),
    new ShipLeases(postgresUrl, randomUUID()),
  ]
  const unsettledAfter = async (leases: ShipLeases, stillUnsettled?: readonly number[]) => {
    const lease = await leases.acquire(new Uint32Array())
    await lease.release(stillUnsettled)
    return lease.unsettled
  }
  await unsettledAfter(one, [gone])
  expect(await unsettledAfter(other, [gone])).toEqual([gone])
  expect(await unsettledAfter(one)).toEqual([gone])
  expect(await unsettledAfter(other)).toEqual([])
  ;(await one.acquire(new Uint32Array())).abandon()
  expect(await unsettledAfter(other)).toBeNull()
  one.close()
  other.close()
})
