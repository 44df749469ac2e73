/** While a shard is away, events of the other shards' pixels are stored; its own wait, and are stored once. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { QueryExecutor } from '../../collector/api/access/queryExecutor.ts'
import { createCompleteUntil } from '../../collector/events/query/completeUntil.ts'
import { nameProjects } from '../../collector/events/query/projects.ts'
import type { EventsPlan } from '../../collector/events/query/selection.ts'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import { keepWatermark } from '../../collector/ingest/shipper/watermark.ts'
import { examinePostgres } from '../../collector/ops/doctor/checkPostgres.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openDatabase, openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { registerCollector } from '../../collector/platform/collectors.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { type Shards, startShards } from '../harness/shards.ts'
import { ids, writeSegment } from '../spool/segments.ts'
import { createPlacedProject } from './placedProject.ts'

const waitMs = 120_000
const collectorId = randomUUID()
/** The shard that stays, and the one that is away. */
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

const newProject = (...places: number[]) => createPlacedProject(postgres, clickhouse, places)

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
  onTestFinished(back)
  // Every event arrives twice, in other segments.
  for (let from = 10; from < 50; from += 10) {
    const [a, b] = [stays.slice(from, from + 10), waits.slice(from, from + 10)]
    first.shipper.add(segment([...ofHere.rows(a), ...ofGone.rows(b)]))
    first.shipper.add(segment([...ofGone.rows(b), ...ofHere.rows(a)]))
  }
  await untilStored(here, stays.slice(0, 50))
  await waitFor('the queue to be empty', () => first.shipper.queued === 0, waitMs)
  expect(first.shipper.backlog).toBe(8)
  const { others, shards: marks } = first.shipper.lowMarks(null)
  expect(others).toBe(Infinity)
  expect([...marks.keys()]).toEqual([gone])
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
  onTestFinished(back)
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

test('complete_until of a project on other shards does not wait for the shard that is away', async () => {
  const [ofHere, ofGone, ofBoth] = [
    await newProject(here),
    await newProject(gone),
    await newProject(here, gone),
  ]
  const { shipper } = startCollector()
  const [stays, waits] = [ids(10), ids(5)]
  shipper.add(segment(ofHere.rows(stays.slice(0, 5))))
  await untilIdle(shipper)
  const { mark: registered } = await registerCollector(postgres, collectorId)
  const published = keepWatermark({
    workers: { lowMarks: async (latest) => [latest] },
    shipper,
    placement: clickhouse.placement,
    postgres,
    collectorId,
    keep: () => {},
    log: { warn: () => {} },
  })
  const reader = openDatabase(shards.cluster, shards.database, { postgres })
  const completeUntil = createCompleteUntil(postgres, Date.now, reader.placement)
  const until = (scope?: { projectId: string | null; pixelId: string | null }) =>
    completeUntil({ mode: 'live' }, scope).then((mark) => mark!)
  const ofProject = ({ projectId }: { projectId: string }) => until({ projectId, pixelId: null })

  const back = await shards.takeAway(gone)
  onTestFinished(back)
  const receivedAt = Date.now()
  shipper.add(segment([...ofHere.rows(stays.slice(5)), ...ofGone.rows(waits)]))
  await untilStored(here, stays)
  await waitFor('the mark of other shards', async () => (await ofProject(ofHere)) > receivedAt + 1)
  expect(await until({ projectId: null, pixelId: ofHere.pixels[0]! })).toBeGreaterThan(
    receivedAt + 1,
  )
  await waitFor('the mark of all', async () => (await until()) <= receivedAt + 1)
  for (const delayed of [ofGone, ofBoth])
    expect(await ofProject(delayed)).toBeLessThanOrEqual(receivedAt + 1)
  expect(await until({ projectId: randomUUID(), pixelId: null })).toBeLessThanOrEqual(
    receivedAt + 1,
  )
  // A start, also of a collector whose clock was set back, gives no event a time before these marks.
  const ofOthers = await ofProject(ofHere)
  expect((await registerCollector(postgres, collectorId)).mark).toBeGreaterThanOrEqual(ofOthers)
  expect(registered).toBeLessThan(ofOthers)

  // The local ClickHouse aborts when a connection to another server breaks, so reads of all shards are not tried here.
  // A read that names the pixel alone finds its project on the shard of the pixel.
  const [stored] = await clickhouse.shards[here]!.rows<{ organization_id: string }>({
    sql: 'SELECT organization_id FROM events_local LIMIT 1',
    params: {},
  })
  const scope = { projectId: null, pixelId: ofHere.pixels[0]!, campaignId: null }
  const named = await nameProjects(
    { clickhouse: reader } as QueryExecutor,
    {
      scope: { organizationId: stored!.organization_id, ...scope },
    } as EventsPlan,
  )
  expect(named.scope.projectId).toBe(ofHere.projectId)
  const doctor = await examinePostgres(postgresUrl, [])
  expect(doctor.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(
      /waits for shard 2 of ClickHouse \(5 events since 20.*start these servers/,
    ),
  )

  back()
  await untilIdle(shipper)
  await waitFor('the mark of all', async () => (await until()) > receivedAt + 1)
  expect(await ofProject(ofGone)).toBeGreaterThan(receivedAt + 1)
  await untilStored(gone, waits)
  await published.stop()
  await reader.close()
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
