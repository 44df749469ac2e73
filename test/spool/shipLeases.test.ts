import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { registerCollector } from '../../collector/platform/collectors.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../harness/databases.ts'
import { type PostgresProxy, startPostgresProxy } from '../harness/postgresProxy.ts'
import { waitFor } from '../harness/service.ts'
import { ids, row, storedIds, writeSegment } from './segments.ts'

/** Resources of a test. */
interface Collector {
  collectorId: string
  shipper: Shipper
  turns: ShipLeases
  /** Ids in queries to ClickHouse. */
  asked: number
  duplicates: number
  retries: string[]
}

let directory: string
let clickhouse: ClickHouse
let postgres: Postgres
let proxy: PostgresProxy
let collectors: Collector[]

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-turns-'))
  const [database, url] = await Promise.all([newClickHouseDatabase(), newPostgresDatabase()])
  clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  postgres = openPostgres(url, () => {})
  proxy = await startPostgresProxy(url, 'nothing is lost')
  collectors = []
})
afterEach(async () => {
  for (const { shipper } of collectors) await shipper.stop(0)
  await Promise.all([clickhouse.close(), postgres.end(), proxy.refuse()])
  rmSync(directory, { recursive: true })
})

/** A collector that began to remember ten minutes ago, so that it asks for no young event without a reason. */
async function startCollector(through: ClickHouse = clickhouse): Promise<Collector> {
  const collectorId = randomUUID()
  const turns = new ShipLeases(proxy.url, collectorId)
  const counting: ClickHouse = {
    ...through,
    rows(query) {
      const { ids } = query.params as { ids?: string[] }
      collector.asked += ids?.length ?? 0
      return through.rows(query)
    },
  }
  const collector: Collector = {
    collectorId,
    turns,
    asked: 0,
    duplicates: 0,
    retries: [],
    shipper: new Shipper({
      clickhouse: counting,
      table: 'events',
      duplicates: new Deduplicator(counting, turns, () => Date.now() - 600_000),
      deadLetterDirectory: join(directory, 'dead'),
      keepShippedMs: 60_000,
      observe: {
        shipped: () => {},
        duplicates: (lines) => (collector.duplicates += lines.length),
        deadLetter: () => {},
        retry: (error) => collector.retries.push(error.message),
      },
    }),
  }
  collectors.push(collector)
  await registerCollector(postgres, collectorId)
  // From now on it knows of all that others ship.
  await (await turns.acquire(new Uint32Array(0))).release()
  return collector
}

let segments = 0
const give = ({ shipper }: Collector, rows: string[]) =>
  shipper.add(writeSegment(directory, rows, randomUUID(), ++segments))
const areIdle = () =>
  waitFor('the shippers', () => collectors.every(({ shipper }) => shipper.backlog === 0))

describe('whichever collector an event reaches, it is stored once', () => {
  test('a thousand ids given to two collectors at the same time, in other orders', async () => {
    const [one, other] = [await startCollector(), await startCollector()]
    const all = ids(1_000)
    for (let from = 0; from < all.length; from += 50) {
      give(
        one,
        all.slice(from, from + 50).map((id) => row(id)),
      )
      give(
        other,
        all.slice(all.length - from - 50, all.length - from).map((id) => row(id)),
      )
    }
    await areIdle()
    expect(await storedIds(clickhouse)).toEqual(all)
    expect(one.duplicates + other.duplicates).toBe(1_000)
  })

  test('and ClickHouse is asked for those alone that another collector may have brought', async () => {
    const [one, other] = [await startCollector(), await startCollector()]
    const [both, onesOwn, othersOwn] = [ids(20), ids(500), ids(500)]
    give(
      one,
      [...both, ...onesOwn].map((id) => row(id)),
    )
    await areIdle()
    give(
      other,
      othersOwn.slice(250).map((id) => row(id)),
    )
    await areIdle()
    give(
      other,
      [...both, ...othersOwn.slice(0, 250)].map((id) => row(id)),
    )
    await areIdle()
    expect(await storedIds(clickhouse)).toEqual([...both, ...onesOwn, ...othersOwn].sort())
    expect(other.duplicates).toBe(20)
    // A new id in some hundreds is taken for a known one.
    expect(one.asked + other.asked).toBeLessThan(40)
  })

  test('also by a collector that missed what others shipped, for it was alone or long away', async () => {
    const one = await startCollector()
    const [early, late] = [ids(10), ids(10)]
    // There is no other collector to notify.
    await postgres.query("UPDATE collectors SET reported_at = now() - interval '1 hour'")
    give(
      one,
      early.map((id) => row(id)),
    )
    await areIdle()
    const other = await startCollector()
    give(
      other,
      early.map((id) => row(id, Date.now() - 3_600_000)),
    )
    await areIdle()
    give(
      one,
      late.map((id) => row(id)),
    )
    await areIdle()
    await postgres.query('DELETE FROM shipped_ids')
    give(
      other,
      late.map((id) => row(id, Date.now() - 3_600_000)),
    )
    await areIdle()
    expect(await storedIds(clickhouse)).toEqual([...early, ...late].sort())
  })
})

test('what a collector had on its way to ClickHouse when it died is waited for', async () => {
  const [dead, heir] = [await startCollector(), await startCollector()]
  const [id] = ids(1) as [string]
  const turn = await dead.turns.acquire(new Uint32Array(0))
  // ClickHouse works on it for three seconds more.
  const insert = `INSERT INTO events (project_id, event_id, ts_millis, received_at)
    SELECT ${projectOf(row(id))}, '${id}', toUnixTimestamp64Milli(now64(3)), now64(3) FROM numbers(1) WHERE sleepEachRow(3) = 0`
  const inserted = fetch(
    `${new URL(inject('clickhouseUrl')).origin}?${new URLSearchParams({ database: clickhouse.database, query_id: `footfall-${randomUUID()}` })}`,
    { method: 'POST', body: insert, headers: authorization() },
  )
  await waitFor('the insert to begin', async () => {
    const [running] = await clickhouse.rows<{ count: number }>({
      sql: "SELECT count() AS count FROM system.processes WHERE startsWith(query, 'INSERT INTO events (project_id')",
      params: {},
    })
    return running!.count > 0
  })
  turn.abandon()
  give(heir, [row(id, Date.now() - 3_600_000)])
  await areIdle()
  expect((await inserted).status).toBe(200)
  expect(await storedIds(clickhouse)).toEqual([id])
  expect(heir.duplicates).toBe(1)
})

test('a collector that says nothing for ten seconds loses its turn, and another one ships', async () => {
  const [silent, other] = [await startCollector(), await startCollector()]
  const turn = await silent.turns.acquire(new Uint32Array(0))
  proxy.goSilent()
  give(other, [row()])
  await waitFor('the turn to be lost', () => !turn.isHeld())
  await areIdle()
  expect(await storedIds(clickhouse)).toHaveLength(1)
}, 600_000)

test('what a collector sends after its turn is not taken, and it finds out what became of it', async () => {
  const all = ids(20)
  const rows = all.map((id) => row(id))
  let stoodStill = false
  const slow = await startCollector({
    ...clickhouse,
    async insertLines(...args) {
      if (!stoodStill) {
        stoodStill = true
        proxy.goSilent()
        give(other, rows)
        await waitFor('the other to ship them', () => other.shipper.backlog === 0, 60_000)
      }
      await clickhouse.insertLines(...args)
    },
  })
  const other = await startCollector()
  give(slow, rows)
  await waitFor(
    'both',
    () => stoodStill && slow.shipper.backlog + other.shipper.backlog === 0,
    90_000,
  )
  expect(await storedIds(clickhouse)).toEqual(all)
  expect(slow.retries[0]).toMatch(/lease to ship was lost/)
}, 600_000)

test('while PostgreSQL is away segments wait in the spool, and are shipped when it is back', async () => {
  const [one, other] = [await startCollector(), await startCollector()]
  const all = ids(20)
  await proxy.refuse()
  for (const collector of [one, other])
    give(
      collector,
      all.map((id) => row(id)),
    )
  await waitFor('tries', () => one.retries.length > 1 && other.retries.length > 1)
  expect(await storedIds(clickhouse)).toEqual([])
  expect(one.shipper.backlog).toBe(1)
  await proxy.accept()
  await areIdle()
  expect(await storedIds(clickhouse)).toEqual(all)
})

const projectOf = (line: string): string => `'${/"project_id":"([^"]+)"/.exec(line)![1]}'`

function authorization(): Record<string, string> {
  const { username, password } = new URL(inject('clickhouseUrl'))
  const login = `${username}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
}
