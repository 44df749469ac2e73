import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { cachedDevice } from '../../collector/ingest/normalize/device.ts'
import { eventRow, sharedMembers } from '../../collector/ingest/normalize/eventRow.ts'
import { Deduplicator } from '../../collector/ingest/shipper/deduplicator.ts'
import { ShipLeases } from '../../collector/ingest/shipper/shipLeases.ts'
import { Shipper } from '../../collector/ingest/shipper/shipper.ts'
import { decodeSegment } from '../../collector/ingest/spool/frame.ts'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { chrome, customEvent } from '../harness/api.ts'
import { recordOf } from '../harness/record.ts'
import { record, replay } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { interleave } from './stats.ts'

interface Segment {
  name: string
  /** The file: records of lines with a header each. */
  bytes: Buffer
  /** The lines alone. */
  payloads: Buffer[]
  rows: number
}

const segments = 10
const recordsPerSegment = 400
const rowsPerRecord = 50
const shipTimeoutMs = 120_000
/** A shipper that has run for a while knows of young events, without asking, that they are not stored. */
const shipperAgeMs = 600_000

/** Shipping sealed segments, reading them and looking for doubles included, ÷ raw inserts of the same bytes. */
export async function ship({ repeats, log }: Bench): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-'))
  const [clickhouse, postgres] = await Promise.all([
    startLocalClickHouse(join(directory, 'clickhouse'), log),
    startLocalPostgres(join(directory, 'postgres'), log),
  ])
  try {
    const pool = openPostgres(postgres.url, () => {})
    await migratePostgres(pool)
    await pool.end()
    const all = Array.from({ length: segments }, makeSegment)
    const rows = all.reduce((sum, segment) => sum + segment.rows, 0)
    const bytes = all.reduce((sum, segment) => sum + segment.bytes.length, 0)
    const measure = async (
      name: string,
      insert: (database: string, all: readonly Segment[]) => Promise<number>,
    ) => {
      const rowsPerSecond =
        rows / (await insertInto(clickhouse.url, rows, (database) => insert(database, all)))
      log(`${name}: ${Math.round(rowsPerSecond)} rows/s`)
      return rowsPerSecond
    }
    const shipped = () =>
      measure('shipped', (database, all) =>
        shipAll(clickhouse.url, postgres.url, database, directory, all),
      )
    const raw = () =>
      measure('raw insert', (database, all) => insertRaw(clickhouse.url, database, all))
    await interleave(1, shipped, raw)
    const { a, b, ratio } = await interleave(repeats, shipped, raw)
    return {
      what: 'shipping ÷ raw insert of the same bytes',
      value: ratio.toFixed(2),
      target: '≥ 0.95',
      detail: `${Math.round(a)} ÷ ${Math.round(b)} rows/s, ${rows} rows, ${(bytes / 1e6).toFixed(0)} MB`,
    }
  } finally {
    await Promise.all([clickhouse.stop(), postgres.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}

function makeSegment(): Segment {
  const spoolId = randomUUID()
  const now = Date.now()
  let seq = 0
  const records = Array.from({ length: recordsPerSegment }, () => {
    const shared = sharedMembers({
      organizationId: randomUUID(),
      projectId: randomUUID(),
      pixelId: randomUUID(),
      cookieId: randomUUID(),
      clientIp: '203.0.113.7',
      deviceMembers: cachedDevice(chrome).members,
      receivedMillis: now,
      clockCorrectionMs: 0,
    })
    const rows = Array.from({ length: rowsPerRecord }, () => {
      const { event_id, event_data } = customEvent({ sku: 'POT-23', price: 24.5 })
      const event = { event_id, event_type: 'custom' as const, event_data, sentMillis: now }
      return eventRow(event, shared, now - (++seq % 1000))
    })
    return recordOf(rows, spoolId, seq - rowsPerRecord + 1)
  })
  const bytes = Buffer.concat(records)
  return { name: `${spoolId}.0000000000000001.seg`, bytes, ...decodeSegment(bytes) }
}

/** Runs `insert` on a database that holds nothing, checks that all rows are there, and drops it. */
async function insertInto(
  url: string,
  rows: number,
  insert: (database: string) => Promise<number>,
) {
  const database = `bench_${randomBytes(6).toString('hex')}`
  await migrateClickHouse(url, database)
  const seconds = await insert(database)
  const clickhouse = openClickHouse(url, database)
  const [stored] = await clickhouse.rows<{ rows: number }>({
    sql: 'SELECT count() AS rows FROM events',
    params: {},
  })
  await clickhouse.command({ sql: `DROP DATABASE ${database} SYNC`, params: {} })
  await clickhouse.close()
  if (stored!.rows !== rows) throw new Error(`${stored!.rows} of ${rows} rows were stored`)
  return seconds
}

async function shipAll(
  url: string,
  postgresUrl: string,
  database: string,
  directory: string,
  all: readonly Segment[],
) {
  const spool = join(directory, database)
  mkdirSync(spool)
  for (const { name, bytes } of all) writeFileSync(join(spool, name), bytes)
  const clickhouse = openClickHouse(url, database)
  const shipper = new Shipper({
    clickhouse,
    table: 'events',
    duplicates: new Deduplicator(
      clickhouse,
      new ShipLeases(postgresUrl, randomUUID()),
      () => Date.now() - shipperAgeMs,
    ),
    deadLetterDirectory: join(directory, 'dead_letters'),
    keepShippedMs: shipTimeoutMs,
    observe: {
      shipped: () => {},
      duplicates: () => {},
      deadLetter: fail,
      retry: fail,
    },
  })
  const startedAt = performance.now()
  for (const { name } of all) shipper.add(join(spool, name))
  await shipper.stop(shipTimeoutMs)
  const seconds = (performance.now() - startedAt) / 1000
  await clickhouse.close()
  rmSync(spool, { recursive: true })
  return seconds
}

function fail(reason: Error | string): never {
  throw reason instanceof Error ? reason : new Error(reason)
}

/** The same bytes, from memory, with the settings that the collector inserts with. */
async function insertRaw(url: string, database: string, all: readonly Segment[]) {
  const insert = await record(url, database, (clickhouse) =>
    clickhouse.insertLines(
      'events',
      Readable.from([Buffer.from('{}\n')], { objectMode: false }),
      'token',
    ),
  )
  const startedAt = performance.now()
  for (const { name, payloads } of all) {
    const parameters = { insert_deduplication_token: name, query_id: randomUUID() }
    await replay(url, insert, { parameters, body: payloads })
  }
  return (performance.now() - startedAt) / 1000
}
