/** A cluster of two shards is backed up while events arrive, and restored into two other servers. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { findBackup, readManifest } from '../../collector/ops/backup/manifest.ts'
import { openDirectoryStore } from '../../collector/ops/backup/openObjectStore.ts'
import {
  type ClickHouseAddress,
  openForShipping,
} from '../../collector/platform/clickhouse/cluster.ts'
import { closeNodes, openNodes } from '../../collector/platform/clickhouse/migrate.ts'
import { shardOf } from '../../collector/platform/clickhouse/shards.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { ask, beaconOf, customEvent, postBeacon, readRows } from '../harness/api.ts'
import { createPixels } from '../harness/cluster.ts'
import { newEmptyPostgresDatabase } from '../harness/databases.ts'
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
  const { organization_id, project_id, pixel_id } = service.demo
  const nodes = openNodes(source.address, source.database)
  const { clickhouse } = nodes[shardOf(project_id, 2)]!
  await clickhouse.command({
    sql: `INSERT INTO events_local (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, received_at, event_data)
          SELECT {organization:UUID}, {project:UUID}, {pixel:UUID},
            generateUUIDv4(number), 'page_view', toUnixTimestamp64Milli(now64(3)) - 60 * 86400000 + number,
            now64(3) - INTERVAL 60 DAY, randomPrintableASCII(200)
          FROM numbers(30000)`,
    params: { organization: organization_id, project: project_id, pixel: pixel_id },
  })
  await closeNodes(nodes)
}

const placeOf = async ({ cluster, database, env }: Shards): Promise<Place> => ({
  address: cluster,
  database,
  env: { ...env, DATABASE_URL: await newEmptyPostgresDatabase() },
})

/** Two servers without data. */
async function newShards(): Promise<Place> {
  const place = mkdtempSync(join(directory, 'target'))
  const started = await startShards(place, 2, { grants: documentedGrants() })
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
            WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT IN ('migrations', 'shard', 'hits')`,
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
const ofInstallation = ['leases', 'migrations', 'sql_functions', 'clickhouse_shards', 'last_backup']

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
async function storedIds({ address, database }: Place): Promise<string[]> {
  const clickhouse = openForShipping(address, database)
  const rows = await clickhouse.rows<{ event_id: string }>({
    sql: 'SELECT event_id FROM events WHERE event_type = {type:String} ORDER BY 1',
    params: { type: 'custom' },
  })
  await clickhouse.close()
  return rows.map(({ event_id }) => event_id)
}

/** The projects with events on each shard. */
async function projectsOnShards({ address, database }: Place): Promise<string[][]> {
  const nodes = openNodes(address, database)
  const found: string[][] = []
  for (const { clickhouse } of nodes) {
    const rows = await clickhouse.rows<{ project_id: string }>({
      sql: 'SELECT DISTINCT project_id FROM events_local ORDER BY project_id',
      params: {},
    })
    found.push(rows.map(({ project_id }) => project_id))
  }
  await closeNodes(nodes)
  return found
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

test('it has all events up to its watermark, and each of them once, on the shard of its project', async () => {
  const target = await newShards()
  const dataDir = join(directory, 'restored 2')
  await footfall(['restore', backup, '--backup', underLoad.id], target.env, dataDir)
  const condition = `received_at < parseDateTime64BestEffort('${underLoad.completeUntil}', 3, 'UTC')`
  const [expected, found] = [
    await hashTables(source, condition),
    await hashTables(target, condition),
  ]
  expect(found.events).toBe(expected.events)
  expect(Number.parseInt(found.events!, 10)).toBeGreaterThan(500)
  const projects = await projectsOnShards(target)
  expect(projects).toEqual(await projectsOnShards(source))
  expect(projects.map(({ length }) => length)).toEqual([1, 1])

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

test('restored it equals the source, table by table and answer by answer', async () => {
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

  const target = await newShards()
  const dataDir = join(directory, 'restored equal')
  await footfall(['restore', backup], target.env, dataDir)
  expect(await hashTables(target)).toEqual(tables)
  expect(await readPostgres(target)).toEqual(rows)
  expect(await projectsOnShards(target)).toEqual(await projectsOnShards(source))

  const again = await startService({ dataDir, env: target.env })
  try {
    expect(again.demo).toEqual(service.demo)
    expect(await readUsage(again)).toEqual(usage)
    expect(await readCounts(again)).toEqual(counts)
    expect(await readEvents(again)).toEqual(events)
    const later = pixelIds.map((pixel_id) => ({ pixel_id, event: customEvent() }))
    for (const { pixel_id, event } of later)
      await postBeacon(again.url, beaconOf(again, [event], { pixel_id }))
    await waitFor('the new events', async () => {
      const known = new Set(await storedIds(target))
      return later.every(({ event }) => known.has(event.event_id))
    })
  } finally {
    await again.end('SIGTERM')
  }
}, 600_000)

test('servers that do not fit are refused in plain words', async () => {
  const empty = { ...source.env, DATABASE_URL: await newEmptyPostgresDatabase() }
  const dataDir = join(directory, 'refused')
  await expect(footfall(['restore', backup], empty, dataDir)).rejects.toThrow(
    /^footfall: ClickHouse at 127\.0\.0\.1:\d+ already has tables in footfall: restore into empty/,
  )
  const fewer = { ...empty, CLICKHOUSE_SHARDS: source.env.CLICKHOUSE_SHARDS!.split(',')[0]! }
  await expect(footfall(['restore', backup], fewer, dataDir)).rejects.toThrow(
    'footfall: the backup has 2 shards of ClickHouse, and the settings name 1: set CLICKHOUSE_SHARDS to as many servers',
  )
  const CLICKHOUSE_SHARDS = 'http://127.0.0.1:9,http://127.0.0.1:11'
  const away = { ...empty, CLICKHOUSE_DATABASE: 'other', CLICKHOUSE_SHARDS }
  await expect(footfall(['restore', backup], away, dataDir)).rejects.toThrow(
    'footfall: 127.0.0.1:9 of ClickHouse cannot be reached',
  )
}, 120_000)
