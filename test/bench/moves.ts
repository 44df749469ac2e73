import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import { movePixel } from '../../collector/ops/shards/movePixel.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateDatabases } from '../../collector/platform/clickhouse/migrateDatabases.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { startShards } from '../harness/shards.ts'
import { ids, row, writeSegment } from '../spool/segments.ts'
import { makeEvents } from './events.ts'
import { hourMs } from './pages.ts'
import type { Bench, Row } from './rows.ts'

const events = 5_000_000
const spanMs = 30 * 24 * hourMs
const arrivingPerSecond = 1_000

/** A pixel moves to another shard while events of it arrive; every read in between is compared with what arrived. */
export async function moves({ log }: Bench): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-moves-'))
  const shards = await startShards(directory, 2, { onRestart: log })
  const store = await startLocalPostgres(join(directory, 'postgres'), log)
  const postgres = openPostgres(store.url, () => {})
  await migratePostgres(postgres)
  await migrateDatabases(shards.cluster, shards.database, postgres, () => {})
  const clickhouse = openForShipping(shards.cluster, shards.database, postgres)
  const place = {
    organization_id: randomUUID(),
    project_id: randomUUID(),
    pixel_id: randomUUID(),
  }
  const leases = new ShipLeases(store.url, randomUUID())
  const shipper = new Shipper({
    clickhouse,
    table: 'events',
    duplicates: new Deduplicator(clickhouse, leases),
    deadLetterDirectory: join(directory, 'dead'),
    keepShippedMs: 1_000,
    observe: { shipped: () => {}, duplicates: () => {}, deadLetter: log, retry: () => {} },
  })
  const load = { sent: 0, stored: 0, isOn: true, longestMs: 0, reads: 0, wrongReads: 0 }
  const send = async () => {
    const rows = ids(arrivingPerSecond / 4).map((id) =>
      row(id, Date.now(), place.project_id, place.pixel_id),
    )
    const since = performance.now()
    shipper.add(writeSegment(directory, rows, randomUUID(), 1))
    load.sent += rows.length
    while (shipper.backlog > 0) await delay(5)
    load.stored += rows.length
    load.longestMs = Math.max(load.longestMs, performance.now() - since)
  }
  const read = async () => {
    const before = load.stored
    const counts = await Promise.all([direct, ofAll].map((sql) => countOf(clickhouse, place, sql)))
    load.reads += counts.length
    for (const { rows, own } of counts)
      if (rows !== own || rows < events + before || rows > events + load.sent) load.wrongReads++
  }
  const repeat = async (work: () => Promise<void>, ms: number) => {
    while (load.isOn) await Promise.all([work(), delay(ms)])
  }
  try {
    const from = await clickhouse.placement!.shardOf(place.pixel_id)
    log(`making ${events} events on shard ${from! + 1}`)
    const made = {
      rows: events,
      newestMs: Date.now(),
      spanMs,
      cookie: 'cityHash64(number) % 50000',
    }
    const server = { url: shards.servers[from!]!.url, database: shards.database }
    await makeEvents(server, place, { ...made, table: 'events_local' })
    const loads = [repeat(send, 250), repeat(read, 1_000)]
    const startedAt = performance.now()
    const request = { pixelId: place.pixel_id, to: 1 - from! }
    await movePixel({ postgres, clickhouse }, request, log)
    const seconds = (performance.now() - startedAt) / 1_000
    await delay(3_000)
    load.isOn = false
    await Promise.all(loads)
    const { rows, own } = await countOf(clickhouse, place, ofAll)
    return {
      what: `a pixel with ${events / 1_000_000} M events moves under load: wrong reads, lost or doubled events`,
      value: `${load.wrongReads}, ${events + load.sent - own}, ${rows - own}`,
      target: '0, 0, 0',
      detail: `${seconds.toFixed(0)} s; ${load.sent} events arrived meanwhile, the slowest readable after ${(load.longestMs / 1_000).toFixed(1)} s; ${load.reads} reads`,
    }
  } finally {
    load.isOn = false
    await shipper.stop(0)
    await Promise.all([clickhouse.close(), postgres.end()])
    await Promise.all([shards.stop(), store.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A read that asks the pixel's shard, and one that asks all. */
const [direct, ofAll] = ['{events:Identifier}', 'events'].map(
  (table) =>
    `SELECT count() AS rows, uniqExact(event_id) AS own FROM ${table}
     WHERE project_id = {project_id:UUID} AND pixel_id = {pixel_id:UUID}`,
) as [string, string]

async function countOf(
  clickhouse: ClickHouse,
  { project_id, pixel_id }: { project_id: string; pixel_id: string },
  sql: string,
): Promise<{ rows: number; own: number }> {
  const params = { project_id, pixel_id, ...(sql === direct && { events: 'events' }) }
  const [counts] = await clickhouse.rows<{ rows: number; own: number }>({
    sql,
    params,
    ...(sql === direct && { pixelId: pixel_id }),
  })
  return counts!
}
