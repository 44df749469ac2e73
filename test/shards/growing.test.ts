/** A single server grows into two shards by the statements of the guide, while events arrive. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateDatabases } from '../../collector/platform/clickhouse/migrateDatabases.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { shardOf } from '../../collector/platform/clickhouse/shards.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { type Shards, startShards } from '../harness/shards.ts'
import { ids, row, storedIds, writeSegment } from '../spool/segments.ts'

/** The databases of the single server and of the cluster, which the guide calls `footfall` and `footfall2`. */
const [before, after] = ['single', 'footfall']

let directory: string
let shards: Shards
let postgresUrl: string
let postgres: Postgres
/** The default database of each server. */
let servers: ClickHouse[]
let leases: ShipLeases[]
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-growing-'))
  shards = await startShards(directory, 2)
  postgresUrl = await newPostgresDatabase()
  postgres = openPostgres(postgresUrl, () => {})
  servers = shards.servers.map(({ url }) => openClickHouse(url, 'default'))
  leases = []
})
afterAll(async () => {
  for (const each of leases) each.close()
  await Promise.all(servers.map((server) => server.close()))
  await postgres.end()
  await shards.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Returns the statements of the guide, each as lines without indentation. */
function statementsOfGuide(): string[] {
  const guide = readFileSync(join(packageRoot, 'collector/docs/several-machines.md'), 'utf8')
  const [, section] = /### Grow\n(.*?)\n### /s.exec(guide)!
  return [...section!.matchAll(/```sql no-run\n(.*?)```/gs)].flatMap(([, sql]) =>
    sql!
      .split(';\n')
      .map((statement) => statement.trim())
      .filter(Boolean),
  )
}

/** Puts the names and values of this test into a statement of the guide. */
function filledIn(statement: string, values: Record<string, string> = {}): string {
  const names = { footfall2: after, footfall: before, ...values }
  const keys = Object.keys(names).map((name) => name.replace(/[^\w]/g, '\\$&'))
  const pattern = new RegExp(keys.join('|'), 'g')
  return statement.replace(pattern, (name) => names[name as keyof typeof names]!)
}

function openShipper(clickhouse: ClickHouse) {
  const own = new ShipLeases(postgresUrl, randomUUID())
  leases.push(own)
  const seen = { shipped: 0, duplicates: 0 }
  const shipper = new Shipper({
    clickhouse,
    table: 'events',
    duplicates: new Deduplicator(clickhouse, own),
    deadLetterDirectory: join(directory, 'dead'),
    keepShippedMs: 60_000,
    observe: {
      shipped: (rows) => (seen.shipped += rows),
      duplicates: (lines) => (seen.duplicates += lines.length),
      deadLetter: (reason) => expect.fail(reason),
      retry: () => {},
    },
  })
  return {
    seen,
    async ship(rows: string[]) {
      shipper.add(writeSegment(directory, rows, randomUUID(), 1))
      await waitFor('the shipper', () => shipper.backlog === 0, 60_000)
    },
  }
}

const dayMs = 86_400_000
/** Projects, alternately on both shards. */
const projects = Array.from({ length: 8 }, (_, index) => {
  let projectId = randomUUID()
  while (shardOf(projectId, 2) !== index % 2) projectId = randomUUID()
  return projectId
})
const rowsOf = (all: readonly string[], at: number) =>
  all.map((id, n) => row(id, at, projects[n % projects.length]))

test('each event and each row of another table is in the new cluster once', async () => {
  const [columnsOf, dropMonth, copyMonth, compare, attach] = statementsOfGuide() as [
    string,
    string,
    string,
    string,
    string,
  ]
  const [first] = servers as [ClickHouse, ClickHouse]
  await migrateDatabases(shards.servers[0]!.url, before, postgres, () => {})
  const single = openForShipping(shards.servers[0]!.url, before)
  const old = openShipper(single)
  const [early, now, late, repeated] = [ids(200), ids(200), ids(100), ids(1)]
  await old.ship(rowsOf(early, Date.now() - 70 * dayMs))
  await old.ship(rowsOf(now, Date.now()))
  await single.command({
    sql: "INSERT INTO company_networks (network, company_domain) VALUES ('192.0.2.0/24', 'example.com')",
    params: {},
  })

  await migrateDatabases(shards.cluster, after, postgres, () => {})
  const cluster = openForShipping(shards.cluster, after)
  const [{ columns }] = (await first.rows<{ columns: string }>({
    sql: `SELECT (${filledIn(columnsOf)}) AS columns`,
    params: {},
  })) as [{ columns: string }]
  const [{ address }] = (await first.rows<{ address: string }>({
    sql: "SELECT concat('127.0.0.1:', toString(port)) AS address FROM system.clusters WHERE cluster = 'footfall' AND shard_num = 1",
    params: {},
  })) as [{ address: string }]
  const { password, username } = new URL(shards.servers[0]!.url)
  const differing = async () => {
    const rows = await first.rows<{ month: number }>({ sql: filledIn(compare), params: {} })
    return rows.map(({ month }) => String(month))
  }
  const copy = async (month: string) => {
    for (const [index, server] of servers.entries()) {
      const values = {
        COLUMNS: columns,
        '202601': month,
        "'a:9000'": `'${address}'`,
        "'collector'": `'${username}'`,
        "'PASSWORD'": `'${password}'`,
        '% 2 = 0': `% 2 = ${index}`,
      }
      for (const statement of [dropMonth, copyMonth])
        await server.command({ sql: filledIn(statement, values), params: {} })
    }
  }
  const months = await differing()
  expect(months.length).toBeGreaterThan(1)
  for (const month of months) await copy(month)
  expect(await differing()).toEqual([])

  // Events arrive until every process has stopped. So the current month is copied again.
  await old.ship(rowsOf(late, Date.now()))
  const changed = await differing()
  expect(changed).toEqual([months.at(-1)])
  for (const month of changed) await copy(month)
  expect(await differing()).toEqual([])
  const links = await first.rows<Record<string, string>>({ sql: filledIn(attach), params: {} })
  for (const [statement] of links.map((link) => Object.values(link)))
    await first.command({ sql: statement!, params: {} })

  // A collector ships what it still has, which is partly in the cluster already.
  const grown = openShipper(cluster)
  await grown.ship(rowsOf([...late, ...repeated], Date.now()))
  expect(grown.seen).toMatchObject({ shipped: 1, duplicates: late.length })
  expect(await storedIds(cluster)).toEqual([...early, ...now, ...late, ...repeated].sort())
  for (const [index, shard] of cluster.shards.entries()) {
    const rows = await shard.rows<{ project_id: string }>({
      sql: 'SELECT DISTINCT project_id FROM events_local',
      params: {},
    })
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter(({ project_id }) => shardOf(project_id, 2) !== index)).toEqual([])
  }
  const networks = await cluster.rows({
    sql: 'SELECT network FROM company_networks',
    params: {},
  })
  expect(networks).toEqual([{ network: '192.0.2.0/24' }])
  await Promise.all([single.close(), cluster.close()])
}, 300_000)
