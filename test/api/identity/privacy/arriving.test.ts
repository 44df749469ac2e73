import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import {
  carryOutErasures,
  keepErasing,
  readErasure,
  requestErasure,
} from '../../../../collector/identity/privacy/erasures.ts'
import {
  appendDeadLetter,
  readDeadLetters,
} from '../../../../collector/ingest/shipper/deadLetters.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { publishErasedUntil, registerCollector } from '../../../../collector/platform/collectors.ts'
import { openPostgres, type Postgres } from '../../../../collector/platform/postgres/pool.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../../../harness/databases.ts'
import { waitFor } from '../../../harness/service.ts'

let postgres: Postgres
let clickhouse: ClickHouse
let deadLetterDirectory: string

beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
  const database = await newClickHouseDatabase()
  clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  deadLetterDirectory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
})
afterAll(async () => {
  await Promise.all([postgres.end(), clickhouse.close()])
  rmSync(deadLetterDirectory, { recursive: true })
})

const store = (sql: string, params: Record<string, unknown>) => clickhouse.command({ sql, params })

const eventsOf = async (cookie: string): Promise<number> => {
  const [found] = await clickhouse.rows<{ n: number }>({
    sql: 'SELECT count() AS n FROM events WHERE cookie_id = {cookie:UUID}',
    params: { cookie },
  })
  return Number(found!.n)
}

test('an event that was still in another machine’s spool when its person was erased goes as soon as it arrives', async () => {
  const [organization, cookie, hem] = [randomUUID(), randomUUID(), 'c'.repeat(64)]
  const collectorId = randomUUID()
  await registerCollector(postgres, collectorId)
  await publishErasedUntil(postgres, collectorId, Date.now() - 60 * 60_000)
  const carryOut = () => carryOutErasures({ postgres, clickhouse })
  const isFinished = async () => (await readErasure(postgres, erasure_id))!.completed_at !== null

  await store(
    `INSERT INTO identity_links (organization_id, cookie_id, hem, observed_at)
     VALUES ({organization:UUID}, {cookie:UUID}, {hem:String}, now())`,
    { organization, cookie, hem },
  )
  const { erasure_id } = await requestErasure(postgres, organization, { hem })
  await postgres.query(`UPDATE erasures SET requested_at = requested_at - interval '11 minutes'`)
  // The first round deletes the link; the second finds nothing left, and waits for the spool.
  await carryOut()
  await carryOut()
  expect(await isFinished()).toBe(false)

  await store(
    `INSERT INTO events (organization_id, project_id, event_id, event_type, ts_millis, cookie_id)
     VALUES ({organization:UUID}, generateUUIDv4(), generateUUIDv4(), 'custom', {now:Int64}, {cookie:UUID})`,
    { organization, cookie, now: Date.now() },
  )
  await publishErasedUntil(postgres, collectorId, Date.now())
  await carryOut()
  expect(await isFinished()).toBe(false)
  await waitFor('the event to go', async () => (await eventsOf(cookie)) === 0, 20_000)
  await carryOut()
  expect(await isFinished()).toBe(true)
})

test('a collector frees its dead letters of whom an erasure names, whichever machine carries it out', async () => {
  const [organization, cookie, collectorId] = [randomUUID(), randomUUID(), randomUUID()]
  await registerCollector(postgres, collectorId)
  const rows = [
    { organization_id: organization, cookie_id: cookie },
    { organization_id: organization, cookie_id: randomUUID() },
    // The sites of another organization keep what they have of the same browser.
    { organization_id: randomUUID(), cookie_id: cookie },
  ].map((row) => JSON.stringify(row))
  for (const [at, row] of rows.entries())
    appendDeadLetter(deadLetterDirectory, `segment${at}`, { table: 'events', reason: 'test', row })
  const letters = () =>
    readDeadLetters(deadLetterDirectory).flatMap((file) => file.letters.map(({ row }) => row))
  expect(letters().sort()).toEqual([...rows].sort())
  let oldest = Date.now() - 60_000
  const erasing = keepErasing({
    postgres,
    collectorId,
    deadLetterDirectory,
    oldestWaitingAt: () => oldest,
    log: { warn() {} },
  })
  // More erasures than one round carries out come before.
  await postgres.query(
    `INSERT INTO erasures (organization_id, cookie_ids, requested_at)
     SELECT $1, ARRAY[gen_random_uuid()], now() - interval '1 minute' FROM generate_series(1, 1001)`,
    [organization],
  )
  const erasedUntil = async () => {
    const { rows } = await postgres.query(
      'SELECT erased_until_ms::float8 AS mark FROM collectors WHERE collector_id = $1',
      [collectorId],
    )
    return rows[0].mark as number
  }
  try {
    await requestErasure(postgres, organization, { cookieId: cookie })
    await waitFor('the dead letter to go', () => letters().length < rows.length)
    expect(letters().sort()).toEqual(rows.slice(1).sort())
    // What waits in the spool may yet be about them.
    await waitFor('the mark', async () => (await erasedUntil()) === oldest)
    oldest = Infinity
    await waitFor(
      'the mark to follow the clock',
      async () => (await erasedUntil()) > Date.now() - 30_000,
    )
  } finally {
    await erasing.stop()
    await postgres.query('DELETE FROM erasures WHERE organization_id = $1', [organization])
    await postgres.query('DELETE FROM collectors WHERE collector_id = $1', [collectorId])
  }
})

test('a person with thousands of browsers is erased, and delays nobody else', async () => {
  const [hem, hemOfOther] = ['d'.repeat(64), 'e'.repeat(64)]
  const [organization, other, cookie] = [randomUUID(), randomUUID(), randomUUID()]
  await store(
    `INSERT INTO identity_links (organization_id, cookie_id, hem, observed_at)
     SELECT {organization:UUID}, if(number = 0, {cookie:UUID}, generateUUIDv4(number)), {hem:String}, now()
     FROM numbers(4000)
     UNION ALL SELECT {other:UUID}, {cookie:UUID}, {hemOfOther:String}, now()`,
    { organization, other, cookie, hem, hemOfOther },
  )
  await store(
    `INSERT INTO events (organization_id, project_id, event_id, event_type, ts_millis, cookie_id)
     SELECT arrayJoin([{organization:UUID}, {other:UUID}]), generateUUIDv4(), generateUUIDv4(1), 'custom', {now:Int64}, {cookie:UUID}`,
    { organization, other, cookie, now: Date.now() },
  )
  expect(await eventsOf(cookie)).toBe(2)
  await requestErasure(postgres, organization, { hem })
  await requestErasure(postgres, other, { hem: hemOfOther })
  const links = async () =>
    (
      await clickhouse.rows<{ cookie_id: string }>({
        sql: 'SELECT cookie_id FROM identity_links WHERE hem IN {hems:Array(String)}',
        params: { hems: [hem, hemOfOther] },
      })
    ).length
  await waitFor(
    'the rows to go',
    async () => {
      await carryOutErasures({ postgres, clickhouse })
      return (await links()) + (await eventsOf(cookie)) === 0
    },
    60_000,
  )
})

test('thousands of erasures of one organization do not delay those of another', async () => {
  const [organization, other, cookie] = [randomUUID(), randomUUID(), randomUUID()]
  await postgres.query(
    `INSERT INTO erasures (organization_id, cookie_ids, requested_at)
     SELECT $1, ARRAY[gen_random_uuid()], now() - interval '1 minute' FROM generate_series(1, 1001)`,
    [organization],
  )
  await store(
    `INSERT INTO events (organization_id, project_id, event_id, event_type, ts_millis, cookie_id)
     VALUES ({other:UUID}, generateUUIDv4(), generateUUIDv4(), 'custom', {now:Int64}, {cookie:UUID})`,
    { other, cookie, now: Date.now() },
  )
  await requestErasure(postgres, other, { cookieId: cookie })
  await waitFor(
    'the event to go',
    async () => {
      await carryOutErasures({ postgres, clickhouse })
      return (await eventsOf(cookie)) === 0
    },
    60_000,
  )
})
