/** Events are brought to the shards they belong to, once, and go from all of them. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest'
import { measureShards } from '../../collector/api/health/measureShards.ts'
import {
  carryOutErasures,
  readErasure,
  requestErasure,
} from '../../collector/identity/privacy/erasures.ts'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import { examineClickHouse, examineShards } from '../../collector/ops/doctor/checkClickHouse.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { type Cluster, openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { deleteRows } from '../../collector/platform/clickhouse/deleteRows.ts'
import {
  migrateClickHouse,
  migrationNames,
  migrationStatements,
} from '../../collector/platform/clickhouse/migrate.ts'
import { migrateDatabases } from '../../collector/platform/clickhouse/migrateDatabases.ts'
import { forgetShardSet } from '../../collector/platform/clickhouse/shardSet.ts'
import { shardOf } from '../../collector/platform/clickhouse/shards.ts'
import { shardUp } from '../../collector/platform/metrics.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { killNow } from '../chaos/processes.ts'
import { newPostgresDatabase, randomName } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { type Shards, startShards } from '../harness/shards.ts'
import { ids, row, storedIds, writeSegment } from '../spool/segments.ts'

let stores: string
let shards: Shards
let postgresUrl: string
let clickhouse: ClickHouse
beforeAll(async () => {
  stores = mkdtempSync(join(tmpdir(), 'footfall-shards-'))
  shards = await startShards(stores, 2)
  postgresUrl = await newPostgresDatabase()
  await migrateClickHouse(shards.cluster, shards.database)
  clickhouse = openForShipping(shards.cluster, shards.database)
})
afterAll(async () => {
  await clickhouse.close()
  await shards.stop()
  rmSync(stores, { recursive: true, force: true })
})

let directory: string
let turns: ShipLeases[]
let seen: { shipped: number; duplicates: number; retries: string[] }
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-ship-'))
  turns = []
  seen = { shipped: 0, duplicates: 0, retries: [] }
})
afterEach(async () => {
  for (const each of turns) each.close()
  rmSync(directory, { recursive: true })
  for (const shard of clickhouse.shards)
    await shard.command({ sql: 'TRUNCATE TABLE events_local', params: {} })
})

function openShipper(through: ClickHouse = clickhouse): Shipper {
  const itsTurns = new ShipLeases(postgresUrl, randomUUID())
  turns.push(itsTurns)
  return new Shipper({
    clickhouse: through,
    table: 'events',
    duplicates: new Deduplicator(through, itsTurns),
    deadLetterDirectory: join(directory, 'dead'),
    keepShippedMs: 60_000,
    observe: {
      shipped: (rows) => (seen.shipped += rows),
      duplicates: (lines) => (seen.duplicates += lines.length),
      deadLetter: (reason) => expect.fail(reason),
      retry: (error) => seen.retries.push(error.message),
    },
  })
}

const isIdle = (shipper: Shipper) => waitFor('the shipper', () => shipper.backlog === 0, 60_000)
const segment = (rows: string[], spoolId: string = randomUUID()) =>
  writeSegment(directory, rows, spoolId, 1)

/** Projects, alternately on both shards. */
const projects = Array.from({ length: 12 }, (_, index) => {
  let projectId = randomUUID()
  while (shardOf(projectId, 2) !== index % 2) projectId = randomUUID()
  return projectId
})
/** Rows of these ids, of projects on both shards. */
const rowsOf = (all: readonly string[], agoMs = 0) =>
  all.map((id, n) => row(id, Date.now() - agoMs, projects[n % projects.length]))

const storedOn = (shard: number) =>
  clickhouse.shards[shard]!.rows<{ event_id: string; project_id: string }>({
    sql: 'SELECT event_id, project_id FROM events_local',
    params: {},
  })

/** Each row lies on one shard, which is that of its project. */
async function expectOnce(all: readonly string[]): Promise<void> {
  expect(await storedIds(clickhouse)).toEqual([...all].sort())
  for (const shard of [0, 1]) {
    const stored = await storedOn(shard)
    expect(stored.length).toBeGreaterThan(0)
    expect(stored.filter(({ project_id }) => shardOf(project_id, 2) !== shard)).toEqual([])
  }
}

describe('a segment of projects on both shards is stored once', () => {
  test('each row on its shard, however often it comes, whichever collector ships it', async () => {
    const all = ids(300)
    const [shipper, other] = [openShipper(), openShipper()]
    shipper.add(segment(rowsOf(all)))
    other.add(segment(rowsOf(all)))
    shipper.add(segment(rowsOf(all, 86_400_000)))
    await Promise.all([isIdle(shipper), isIdle(other)])
    await expectOnce(all)
    expect(seen).toMatchObject({ shipped: 300, duplicates: 600 })
  })

  test('one id that two projects on two shards send is two events; in one project it is one', async () => {
    const [id] = ids(1) as [string]
    const shipper = openShipper()
    for (let repeat = 0; repeat < 2; repeat++)
      shipper.add(segment(projects.slice(0, 2).map((project) => row(id, Date.now(), project))))
    await isIdle(shipper)
    expect(await storedIds(clickhouse)).toEqual([id, id])
    expect(seen).toMatchObject({ shipped: 2, duplicates: 2 })
  })

  test('when the answer to the insert was lost', async () => {
    const all = ids(100)
    let losses = 3
    const [first, second] = clickhouse.shards
    const losing: ClickHouse = {
      ...second!,
      insertLines: async (...given) => {
        await second!.insertLines(...given)
        if (losses-- > 0) throw new Error('socket hang up')
      },
    }
    const shipper = openShipper({ ...clickhouse, shards: [first!, losing] })
    shipper.add(segment(rowsOf(all)))
    await isIdle(shipper)
    await expectOnce(all)
    expect(seen.retries).toHaveLength(3)
  })

  test('when one server is killed between the two inserts of a batch', async () => {
    const all = ids(100)
    const [first, second] = clickhouse.shards
    let isFirstStored: () => void
    const firstStored = new Promise<void>((resolve) => {
      isFirstStored = resolve
    })
    let kills = 0
    const before: ClickHouse = {
      ...first!,
      insertLines: async (...given) => {
        await first!.insertLines(...given)
        isFirstStored()
      },
    }
    const killed: ClickHouse = {
      ...second!,
      insertLines: async (...given) => {
        await firstStored
        if (kills++ === 0) killNow(shards.servers[1]!.pid()!)
        await second!.insertLines(...given)
      },
    }
    const shipper = openShipper({ ...clickhouse, shards: [before, killed] })
    shipper.add(segment(rowsOf(all)))
    await isIdle(shipper)
    await expectOnce(all)
    expect(kills).toBeGreaterThan(1)
    expect(seen).toMatchObject({ shipped: 100, duplicates: 0 })
  })

  test('when a shard is away and returns: everything waits in the spool, and the shipper says so', async () => {
    const all = ids(400)
    const shipper = openShipper()
    const add = (from: number, to: number) => {
      for (let at = from; at < to; at += 50) shipper.add(segment(rowsOf(all.slice(at, at + 50))))
    }
    add(0, 100)
    await isIdle(shipper)
    const back = await shards.takeAway(1)
    onTestFinished(back)
    const awayAt = Date.now()
    add(100, 300)
    await waitFor('the message', () =>
      seen.retries.some((message) => message.startsWith('shard 2 of ClickHouse: ')),
    )
    // Other shards' projects wait too, in the log.
    expect(seen.shipped).toBe(100)
    expect(shipper.queued).toBe(4)
    expect(shipper.lowMark).toBeLessThanOrEqual(Date.now())
    expect(shipper.lowMark).toBeGreaterThanOrEqual(awayAt - 1_000)
    // A process that is killed meanwhile leaves its segments to the next one.
    await shipper.stop(0)
    const left = readdirSync(directory).filter((name) => name.endsWith('.seg'))
    expect(left).toHaveLength(4)
    const next = openShipper()
    next.addUncertain(left.map((name) => join(directory, name)))
    for (let at = 300; at < 400; at += 50) next.add(segment(rowsOf(all.slice(at, at + 50))))
    back()
    await isIdle(next)
    await expectOnce(all)
    expect(next.lowMark).toBe(Infinity)
  })

  test('when its process was killed, and nobody knows on which shards it arrived', async () => {
    const all = ids(60)
    const path = segment(rowsOf(all))
    const bytes = readFileSync(path)
    const shipper = openShipper()
    shipper.add(path)
    await isIdle(shipper)
    writeFileSync(path, bytes)
    const [, second] = clickhouse.shards
    await second!.command({
      sql: 'ALTER TABLE events_local DELETE WHERE true SETTINGS mutations_sync = 2',
      params: {},
    })
    const next = openShipper()
    next.addUncertain([path])
    await isIdle(next)
    await expectOnce(all)
  })
})

test('/metrics tells of each shard whether it answers', async () => {
  const up = async () => {
    await measureShards(clickhouse)
    const { values } = await shardUp.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.shard, value]))
  }
  await waitFor('both', async () => Object.values(await up()).join() === '1,1')
  killNow(shards.servers[1]!.pid()!)
  await waitFor('one to be gone', async () => (await up())['2'] === 0)
  await waitFor('both again', async () => Object.values(await up()).join() === '1,1', 60_000)
})

test('rows are deleted on every shard', async () => {
  const all = ids(100)
  const shipper = openShipper()
  shipper.add(segment(rowsOf(all)))
  await isIdle(shipper)
  const condition = { sql: 'event_id IN {ids:Array(UUID)}', params: { ids: all.slice(10) } }
  await waitFor(
    'nothing to be left',
    async () => !(await deleteRows(clickhouse, 'events', condition)),
  )
  expect(await storedIds(clickhouse)).toEqual(all.slice(0, 10))
  expect(await deleteRows(clickhouse, 'events', condition)).toBe(false)
})

test('an erasure deletes a browser’s events of projects on every shard', async () => {
  const shipper = openShipper()
  shipper.add(segment(rowsOf(ids(100))))
  await isIdle(shipper)
  const [stored] = await clickhouse.rows<{ cookie_id: string }>({
    sql: 'SELECT DISTINCT cookie_id FROM events',
    params: {},
  })
  const postgres = openPostgres(postgresUrl, () => {})
  const { erasure_id } = await requestErasure(postgres, null, {
    cookieId: stored!.cookie_id,
  })
  await waitFor('the erasure', async () => {
    await carryOutErasures({ postgres, clickhouse })
    return (await readErasure(postgres, erasure_id))!.emptied_at !== null
  })
  expect(await Promise.all([storedOn(0), storedOn(1)])).toEqual([[], []])
  await postgres.end()
})

describe('the schema', () => {
  test('of other shards than the first is events and dictionaries alone; migrations run twice and at once', async () => {
    const { database } = clickhouse
    await Promise.all([1, 2].map(() => migrateClickHouse(shards.cluster, database)))
    const [first, second] = await Promise.all(
      clickhouse.shards.map((shard) =>
        shard.rows<{ name: string }>({
          sql: `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'Dictionary' ORDER BY name`,
          params: {},
        }),
      ),
    )
    expect(second!.map(({ name }) => name)).toEqual(['events', 'events_local', 'migrations'])
    expect(first!.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['events_local', 'profiles']),
    )
  })

  test('a column that is missing is added to the events of all shards', async () => {
    const { database } = clickhouse
    for (const shard of clickhouse.shards) {
      await shard.command({ sql: 'ALTER TABLE events_local DROP COLUMN os_version', params: {} })
      await shard.command({ sql: 'ALTER TABLE events DROP COLUMN os_version', params: {} })
    }
    await migrateClickHouse(shards.cluster, database)
    expect(await clickhouse.rows({ sql: 'SELECT os_version FROM events', params: {} })).toEqual([])
  })

  test('a start says what does not fit', async () => {
    const { cluster } = shards
    const postgres = openPostgres(postgresUrl, () => {})
    const start = (address: Cluster | string, database = shards.database) =>
      migrateDatabases(address, database, postgres, () => {})
    const [url] = cluster.shards[0]!
    await expect(start({ ...cluster, name: 'other' })).rejects.toThrow(
      /has none as cluster "other"/,
    )
    await expect(
      start({ ...cluster, shards: [...cluster.shards, ...cluster.shards] }),
    ).rejects.toThrow(
      /names 1 \+ 1 \+ 1 \+ 1 servers, but remote_servers of its configuration has 1 \+ 1/,
    )
    await expect(start({ ...cluster, shards: cluster.shards.toReversed() })).rejects.toThrow(
      /CLICKHOUSE_SHARDS has it in shard 1, but remote_servers of its configuration has it in shard 2/,
    )
    const alone = randomName()
    await expect(start(cluster, alone)).rejects.toThrow(
      `needs <default_database>${alone}</default_database>`,
    )
    await expect(start(url!)).rejects.toThrow(/has its events on several shards/)
    await start(url!, alone)
    await expect(migrateClickHouse(cluster, alone)).rejects.toThrow(/has its events on one server/)
    await postgres.end()
  })

  test('while a shard is away, an installation starts, and one of another version is refused', async () => {
    const { cluster, database } = shards
    const [first] = clickhouse.shards
    const recorded = (sql: string) =>
      first!.command({ sql: `${sql} SETTINGS mutations_sync = 1`, params: {} })
    const postgres = openPostgres(await newPostgresDatabase(), () => {})
    const away: string[] = []
    const start = () => {
      const withOneAway = [cluster.shards[0]!, ['http://127.0.0.1:9']]
      const address = { ...cluster, shards: withOneAway }
      return migrateDatabases(address, database, postgres, (servers) => away.push(...servers))
    }
    await start()
    expect(away).toEqual(['127.0.0.1:9'])

    const future = "INSERT INTO migrations (name) VALUES ('999_future.sql')"
    await first!.command({ sql: future, params: {} })
    await expect(start()).rejects.toThrow(/another version of Footfall has migrated ClickHouse/)
    await recorded("ALTER TABLE migrations DELETE WHERE name = '999_future.sql'")
    await migrateClickHouse(cluster, database)
    await postgres.end()
  })

  test('a start with other shards than those that events lie on is refused, and doctor says why', async () => {
    const { cluster, database } = shards
    const postgres = openPostgres(await newPostgresDatabase(), () => {})
    const start = () => migrateDatabases(cluster, database, postgres, () => {})
    const doctor = async () => (await examineShards(cluster, database, postgres))[0]!
    await start()
    expect(await doctor()).toEqual({
      ok: true,
      text: 'the 2 shards of CLICKHOUSE_SHARDS contain events',
    })
    await start()

    // Events lie on one shard more, or less, than the settings name.
    const third =
      'INSERT INTO clickhouse_shards (database, position, shard_id) VALUES ($1, 2, gen_random_uuid())'
    await postgres.query(third, [database])
    await expect(start()).rejects.toThrow(
      /names 2 shards, but events are on 3: name the earlier shards/,
    )
    expect(await doctor()).toEqual({
      ok: false,
      text: expect.stringContaining('but events are on 3'),
    })
    await postgres.query('DELETE FROM clickhouse_shards WHERE position = 2')
    await start()

    // Servers that change places, in the settings and in remote_servers, answer for pixels that they do not have.
    const turned = 'UPDATE clickhouse_shards SET position = position - 2 * position + 1'
    await postgres.query(turned.replace('position - 2', '10 + position - 2'))
    await postgres.query('UPDATE clickhouse_shards SET position = position - 10')
    await expect(start()).rejects.toThrow(
      /is shard 1 in CLICKHOUSE_SHARDS, but its events are those of shard 2/,
    )
    await postgres.query(turned.replace('position - 2', '10 + position - 2'))
    await postgres.query('UPDATE clickhouse_shards SET position = position - 10')
    await start()

    // An empty server has taken a shard's place.
    await clickhouse.shards[1]!.command({ sql: 'DROP TABLE shard', params: {} })
    await expect(start()).rejects.toThrow(
      /is shard 2 in CLICKHOUSE_SHARDS, but has none of its events/,
    )
    await forgetShardSet(postgres, database)
    await start()
    expect(await doctor()).toMatchObject({ ok: true })

    await postgres.query(
      'UPDATE clickhouse_shards SET shard_id = gen_random_uuid() WHERE position = 0',
    )
    await expect(start()).rejects.toThrow(/holds events of another installation/)
    await postgres.end()
  })

  test('doctor tells of each server', async () => {
    const found = await examineClickHouse(shards.cluster, clickhouse.database)
    for (const server of shards.servers) {
      const text = `ClickHouse ${new URL(server.url).host} has this version's schema`
      expect(found).toContainEqual({ ok: true, text })
    }
    const { name } = shards.cluster
    const wrong = await examineClickHouse(
      { name, shards: [[shards.servers[0]!.url]] },
      clickhouse.database,
    )
    expect(wrong).toEqual([
      { ok: false, text: expect.stringMatching(/cannot be queried: CLICKHOUSE_SHARDS names 1/) },
    ])
  })

  test('for replicas is what ClickHouse reads, each table under a path of its own, with long memories', async () => {
    const replicas: Cluster = {
      name: 'footfall',
      shards: [
        ['a', 'b'],
        ['c', 'd'],
      ],
    }
    const statements = migrationNames().flatMap((name) => migrationStatements(name, replicas, 0))
    const [parsed] = await clickhouse.rows<{ forms: string[] }>({
      sql: 'SELECT arrayMap(query -> formatQuerySingleLine(query), {statements:Array(String)}) AS forms',
      params: { statements },
    })
    const tables = parsed!.forms.filter((form) => /ENGINE = \w*MergeTree/.test(form))
    expect(tables.length).toBeGreaterThan(15)
    expect(
      tables.filter((form) => !/ENGINE = Replicated\w*MergeTree\('\/clickhouse/.test(form)),
    ).toEqual([])
    const paths = tables.map((form) => /MergeTree\('([^']+)'/.exec(form)![1])
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toContain('/clickhouse/tables/{database}/{shard}/001_collection/events_local')
    // A table that remembers no tokens of inserts on one server remembers none here, where ClickHouse would by default.
    for (const form of tables) {
      const tokens = / non_replicated_deduplication_window = (\d+)/.exec(form)?.[1] ?? '0'
      expect(form).toContain(`SETTINGS replicated_deduplication_window = ${tokens}, `)
      expect(form).toMatch(/ replicated_deduplication_window_seconds = 2592000\b/)
    }
    expect(
      migrationNames()
        .flatMap((name) => migrationStatements(name, replicas, 1))
        .join('\n'),
    ).not.toMatch(/identity|profiles/)
  })
})
