/** A cluster of two shards is backed up while events arrive, and restored into one, two and three shards. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { openDirectoryStore } from '../../collector/ops/backup/directoryStore.ts'
import { findBackup, readManifest } from '../../collector/ops/backup/manifest.ts'
import {
  type ClickHouseAddress,
  isSharded,
  openForShipping,
} from '../../collector/platform/clickhouse/cluster.ts'
import { closeNodes, openNodes } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { ask, beaconOf, customEvent, postBeacon, readRows } from '../harness/api.ts'
import { createPixels } from '../harness/cluster.ts'
import { newEmptyPostgresDatabase, randomName } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { documentedGrants, type Shards, startShards } from '../harness/shards.ts'

/** The settings of a cluster, and how tests reach it. */
interface Place {
  address: ClickHouseAddress
  database: string
  env: Record<string, string>
}

let directory: string
let backup: string
let shards: Shards
let source: Place
let service: Service
let pixelIds: string[]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-backups-'))
  backup = join(directory, 'backup')
  shards = await startShards(join(directory, 'source'), 2, { grants: documentedGrants() })
  source = await placeOf(shards)
  service = await startService({
    dataDir: join(directory, 'data'),
    env: { ...source.env, FOOTFALL_DEMO: 'true' },
  })
  pixelIds = [service.demo.pixel_id, ...(await createPixels(service, 7))]
  await insertOldEvents()
}, 300_000)
afterAll(async () => {
  await service.end('SIGTERM')
  await shards.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Events of an earlier month, which ClickHouse does not merge with new ones. */
async function insertOldEvents(): Promise<void> {
  const { organization_id, project_id } = service.demo
  const nodes = openNodes(source.address, source.database)
  for (const { clickhouse, shard } of nodes)
    await clickhouse.command({
      sql: `INSERT INTO events_local (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, received_at, event_data)
            SELECT {organization:UUID}, {project:UUID},
              (SELECT any(id) FROM (SELECT arrayJoin({pixels:Array(UUID)}) AS id) WHERE cityHash64(id) % 2 = {shard:UInt8}),
              generateUUIDv4(number), 'page_view', toUnixTimestamp64Milli(now64(3)) - 60 * 86400000 + number,
              now64(3) - INTERVAL 60 DAY, randomPrintableASCII(200)
            FROM numbers(30000)`,
      params: { organization: organization_id, project: project_id, pixels: pixelIds, shard },
    })
  await closeNodes(nodes)
}

const placeOf = async ({ cluster, database, env }: Shards): Promise<Place> => ({
  address: cluster,
  database,
  env: { ...env, DATABASE_URL: await newEmptyPostgresDatabase() },
})

/** A database of the run's ClickHouse as one server; other names than those of the source. */
async function oneServer(): Promise<Place> {
  const [url, database] = [inject('clickhouseUrl'), randomName()]
  onTestFinished(async () => {
    const clickhouse = openClickHouse(url, 'default')
    for (const name of [database, `${database}_test`])
      await clickhouse.command({ sql: `DROP DATABASE IF EXISTS ${name}`, params: {} })
    await clickhouse.close()
  })
  const DATABASE_URL = await newEmptyPostgresDatabase()
  return {
    address: url,
    database,
    env: { CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: database, DATABASE_URL },
  }
}

async function newShards(count: number): Promise<Place> {
  const place = join(directory, `target${count}`)
  const started = await startShards(place, count, { grants: documentedGrants() })
  onTestFinished(async () => {
    await started.stop()
    rmSync(place, { recursive: true })
  })
  return placeOf(started)
}

/** Runs a command as an operator does. */
const footfall = (
  args: string[],
  env: Record<string, string>,
  dataDir = service.dataDir,
): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(packageRoot, 'dist/collector/cli.js'), ...args],
      { env: { ...process.env, ...env, FOOTFALL_DATA_DIR: dataDir } },
      (error, stdout, stderr) => (error ? reject(new Error(stdout + stderr)) : resolve(stdout)),
    )
  })

/** Sends beacons of all pixels until it is stopped. */
function startLoad() {
  const acknowledged: string[] = []
  let isStopped = false
  const send = async (sender: number) => {
    for (let n = sender; !isStopped; n++) {
      const events = Array.from({ length: 5 }, (_, number) => customEvent({ number }))
      const pixel_id = pixelIds[n % pixelIds.length]!
      const answer = await postBeacon(service.url, beaconOf(service, events, { pixel_id }))
      if (answer.status === 200) acknowledged.push(...events.map(({ event_id }) => event_id))
      await delay(10)
    }
  }
  const ended = Promise.all([0, 3, 6].map(send))
  return {
    acknowledged,
    async stop(): Promise<void> {
      isStopped = true
      await ended
    },
  }
}

/** Of each table of all servers together: the number of its rows, and the sum of their hashes. */
async function hashTables(
  { address, database }: Place,
  condition = 'true',
): Promise<Record<string, string>> {
  const found: Record<string, { rows: bigint; hash: bigint }> = {}
  const nodes = openNodes(address, database)
  for (const { clickhouse } of nodes) {
    const tables = await clickhouse.rows<{ name: string; engine: string }>({
      sql: `SELECT name, engine FROM system.tables
            WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT IN ('migrations', 'shard')`,
      params: {},
    })
    for (const { name, engine } of tables) {
      const isEvents = /^events/.test(name)
      const [row] = await clickhouse.rows<{ rows: string; hash: string }>({
        sql: `SELECT toString(count()) AS rows, toString(sum(cityHash64(tuple(*)))) AS hash
              FROM ${name} ${engine.startsWith('Replacing') ? 'FINAL' : ''} WHERE ${isEvents ? condition : 'true'}`,
        params: {},
      })
      const known = found[isEvents ? 'events' : name] ?? { rows: 0n, hash: 0n }
      found[isEvents ? 'events' : name] = {
        rows: known.rows + BigInt(row!.rows),
        hash: BigInt.asUintN(64, known.hash + BigInt(row!.hash)),
      }
    }
  }
  await closeNodes(nodes)
  return Object.fromEntries(
    Object.entries(found).map(([name, { rows, hash }]) => [name, `${rows} rows, ${hash}`]),
  )
}

/** Tables of leases, watermarks and shards, and records of migrations. */
const ofInstallation = ['leases', 'migrations', 'sql_functions', 'clickhouse_shards']

/** All rows of PostgreSQL. */
async function readPostgres({ env }: Place): Promise<Record<string, string[]>> {
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  const { rows: tables } = await postgres.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  )
  const held: Record<string, string[]> = {}
  for (const { name } of tables.filter(({ name }) => !ofInstallation.includes(name))) {
    const { rows } = await postgres.query<{ row: string }>(
      `SELECT to_json(t)::text AS row FROM "${name}" t ORDER BY 1`,
    )
    held[name] = rows.map(({ row }) => row)
  }
  await postgres.end()
  return held
}

/** The ids of all events, each as often as it is stored. */
async function storedIds({ address, database, env }: Place): Promise<string[]> {
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  const clickhouse = openForShipping(address, database, postgres)
  const rows = await clickhouse.rows<{ event_id: string }>({
    sql: 'SELECT event_id FROM events WHERE event_type = {type:String} ORDER BY 1',
    params: { type: 'custom' },
  })
  await clickhouse.close()
  await postgres.end()
  return rows.map(({ event_id }) => event_id)
}

/** The shard of each pixel, from 0. Fails for a pixel on two shards. */
async function shardsOfPixels({ address, database }: Place): Promise<Map<string, number>> {
  const places = new Map<string, number>()
  const nodes = openNodes(address, database)
  for (const { clickhouse, shard } of nodes) {
    const pixels = await clickhouse.rows<{ pixel_id: string }>({
      sql: `SELECT DISTINCT pixel_id FROM ${isSharded(address) ? 'events_local' : 'events'}`,
      params: {},
    })
    for (const { pixel_id } of pixels) {
      expect(places.has(pixel_id)).toBe(false)
      places.set(pixel_id, shard)
    }
  }
  await closeNodes(nodes)
  return places
}

/** An answer of the API that is free. */
async function read(of: Service, path: string): Promise<Record<string, unknown>> {
  const answer = await ask(of, path)
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}
const readUsage = (of: Service) => read(of, '/api/v1/billing/usage/by-meter')
const readCounts = async (of: Service) =>
  (await read(of, '/api/v3/events/web_event/counts?group_by=event_type,pixel_id')).counts
const readEvents = (of: Service) => readRows(of, { filter: 'event_type:eq:custom', limit: '1000' })

const writtenIn = (output: string) => {
  const [, written, kept] =
    /written: \d+ objects?, (\d+) bytes; kept from earlier backups: \d+ objects?, (\d+)/.exec(
      output,
    )!
  return { written: Number(written), kept: Number(kept) }
}

/** The second backup under load, and the events that were acknowledged before its start. */
let underLoad: { id: string; acknowledged: string[]; completeUntil: string }

test('a backup under load, and a second one, which writes what is new', async () => {
  const load = startLoad()
  try {
    await waitFor('some events', () => load.acknowledged.length > 500)
    await readRows(service, { filter: 'event_type:eq:custom', limit: '50' })
    const first = writtenIn(await footfall(['backup', backup], source.env))
    const reached = load.acknowledged.length
    await waitFor('more events', () => load.acknowledged.length > reached + 500)
    const acknowledged = [...load.acknowledged]
    const second = writtenIn(await footfall(['backup', backup], source.env))
    expect(second.kept).toBeGreaterThan(0)
    expect(second.written).toBeLessThan(first.written / 2)
    const store = openDirectoryStore(backup)
    const { id, file } = await findBackup(store)
    const manifest = await readManifest(store, { id, file })
    underLoad = { id, acknowledged, completeUntil: manifest.complete_until! }
  } finally {
    await load.stop()
  }
}, 300_000)

test('it has all events up to its watermark, and each of them once, on the shard of its pixel', async () => {
  const target = await newShards(2)
  const dataDir = join(directory, 'restored 2')
  await footfall(['restore', backup, '--backup', underLoad.id], target.env, dataDir)
  const condition = `received_at < parseDateTime64BestEffort('${underLoad.completeUntil}', 3, 'UTC')`
  const [expected, found] = [
    await hashTables(source, condition),
    await hashTables(target, condition),
  ]
  expect(found.events).toBe(expected.events)
  expect(Number.parseInt(found.events!, 10)).toBeGreaterThan(500)
  expect(await shardsOfPixels(target)).toEqual(await shardsOfPixels(source))

  // This machine's spool is in the backup: a start ships it, and no acknowledged event is missing.
  const restored = await startService({ dataDir, env: target.env })
  try {
    const stored = await waitFor('all acknowledged events', async () => {
      const ids = await storedIds(target)
      const known = new Set(ids)
      return underLoad.acknowledged.every((id) => known.has(id)) ? ids : null
    })
    expect(new Set(stored).size).toBe(stored.length)
  } finally {
    await restored.end('SIGTERM')
  }
}, 300_000)

test('restored into one and into three shards it equals the source, table by table and answer by answer', async () => {
  // A pixel that its hash does not place.
  const moved = pixelIds[3]!
  const from = (await shardsOfPixels(source)).get(moved)!
  await footfall(['shards', 'move', moved, '--to', String(2 - from)], source.env)
  await waitFor(
    'all events',
    async () => (await storedIds(source)).length >= underLoad.acknowledged.length,
  )
  const events = await readEvents(service)
  expect(events.length).toBeGreaterThan(500)
  const [usage, counts] = [await readUsage(service), await readCounts(service)]
  expect(counts).toHaveLength(pixelIds.length)
  await service.end('SIGTERM')
  await footfall(['backup', backup], source.env)
  const [tables, rows] = [await hashTables(source), await readPostgres(source)]
  expect(Number.parseInt(tables.events!, 10)).toBeGreaterThan(1_000)
  expect(rows.ledger!.length).toBeGreaterThan(1)

  for (const target of [await oneServer(), await newShards(3), await newShards(2)]) {
    const count = isSharded(target.address) ? target.address.shards.length : 1
    const dataDir = join(directory, `restored equal ${count}`)
    if (count === 3) {
      const CLICKHOUSE_SHARDS = target.env.CLICKHOUSE_SHARDS!.split(',').slice(1).join(',')
      const wrong = { ...target.env, CLICKHOUSE_SHARDS }
      await expect(footfall(['restore', backup], wrong, dataDir)).rejects.toThrow(
        /CLICKHOUSE_SHARDS names 1 \+ 1 servers, but remote_servers of its configuration has 1 \+ 1 \+ 1/,
      )
    }
    await footfall(['restore', backup], target.env, dataDir)
    expect(await hashTables(target)).toEqual(tables)
    const restored = await readPostgres(target)
    const isSame = count === 2
    for (const name of ['pixel_shards', 'shard_placements'])
      expect([name, restored[name]!.length > 0]).toEqual([name, isSame])
    if (!isSame) restored.pixel_shards = rows.pixel_shards!
    // Its version begins again.
    restored.shard_placements = rows.shard_placements!
    expect(restored).toEqual(rows)
    const places = await shardsOfPixels(target)
    expect(new Set(places.values()).size).toBe(count)
    if (isSame) expect(places).toEqual(await shardsOfPixels(source))

    const again = await startService({ dataDir, env: target.env })
    try {
      expect(again.demo).toEqual(service.demo)
      expect(await readUsage(again)).toEqual(usage)
      expect(await readCounts(again)).toEqual(counts)
      expect(await readEvents(again)).toEqual(events)
      // New events of old pixels go where these are.
      const later = pixelIds.map((pixel_id) => ({ pixel_id, event: customEvent() }))
      for (const { pixel_id, event } of later)
        await postBeacon(again.url, beaconOf(again, [event], { pixel_id }))
      await waitFor('the new events', async () => {
        const known = new Set(await storedIds(target))
        return later.every(({ event }) => known.has(event.event_id))
      })
      expect(await shardsOfPixels(target)).toEqual(places)
    } finally {
      await again.end('SIGTERM')
    }
  }
}, 600_000)

test('a move that has not ended, and servers that do not fit, are refused in plain words', async () => {
  const postgres = openPostgres(source.env.DATABASE_URL!, () => {})
  onTestFinished(() => postgres.end())
  await postgres.query('INSERT INTO shard_moves VALUES ($1, $2, 0, 1)', [
    source.database,
    pixelIds[0],
  ])
  await expect(footfall(['backup', backup], source.env)).rejects.toThrow(
    `footfall: pixel ${pixelIds[0]} is being moved to shard 2: end this move first`,
  )
  await postgres.query('DELETE FROM shard_moves')
  await postgres.query(
    "INSERT INTO leases VALUES ('shards of footfall', gen_random_uuid(), now() + interval '1 minute')",
  )
  await expect(footfall(['backup', backup], source.env)).rejects.toThrow(
    'footfall: another process is adding a shard or moving a pixel: wait until it ends',
  )
  await postgres.query('DELETE FROM leases')

  const empty = { ...source.env, DATABASE_URL: await newEmptyPostgresDatabase() }
  const dataDir = join(directory, 'refused')
  await expect(footfall(['restore', backup], empty, dataDir)).rejects.toThrow(
    /^footfall: ClickHouse at 127\.0\.0\.1:\d+ already has tables in footfall: restore into empty/,
  )
  const away = { ...empty, CLICKHOUSE_DATABASE: 'other', CLICKHOUSE_SHARDS: 'http://127.0.0.1:9' }
  await expect(footfall(['restore', backup], away, dataDir)).rejects.toThrow(
    'footfall: 127.0.0.1:9 of ClickHouse cannot be reached',
  )
}, 120_000)
