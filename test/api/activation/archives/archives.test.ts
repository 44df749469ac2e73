/** Archives of raw events: every event in exactly one file, which DuckDB can read. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeMember } from '../../../../collector/accounts/members/newMember.ts'
import { archiveDueHours } from '../../../../collector/activation/archives/archiveJobs.ts'
import { createBilling } from '../../../../collector/billing/billing.ts'
import { openOutbound } from '../../../../collector/platform/outbound/outbound.ts'
import { createSecretBox } from '../../../../collector/platform/outbound/secretBox.ts'
import { storeOrganization, storeProject } from '../../../harness/owners.ts'
import { type S3, startS3 } from '../../../harness/s3.ts'
import { eventOf, openEvents, organizationId, type Row } from '../../events/harness.ts'

const [minute, hour] = [60_000, 3_600_000]
/** The hour that archives start with. */
const nine = Math.floor(Date.now() / 86_400_000 - 2) * 86_400_000 + 9 * hour
const day = new Date(nine).toISOString().slice(0, 10)
const secretKey = Buffer.alloc(32, 'test')
const directory = mkdtempSync(join(tmpdir(), 'footfall-archives-'))
const signal = new AbortController().signal
const problems: unknown[] = []

let events: Awaited<ReturnType<typeof openEvents>>
let billing: ReturnType<typeof createBilling>
let s3: S3
let client: S3['client']
let endpoint: string
let nowMs = nine
/** By which the clock of billing is ahead: it remembers what may be charged for a second. */
let passedMs = 0

beforeAll(async () => {
  s3 = await startS3(join(directory, 's3'), 'bucket')
  ;({ client, endpoint } = s3)
  events = await openEvents({
    env: {
      FOOTFALL_SECRET_KEY: secretKey.toString('base64'),
      FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
  billing = createBilling({
    postgres: events.postgres,
    log: { error: (...said: unknown[]) => problems.push(said) },
    now: () => Date.now() + passedMs,
  })
  await storeOrganization(events.postgres, organizationId)
  await storeMember(events.postgres, {
    memberId: randomUUID(),
    organizationId,
    email: 'owner@acme.example',
    role: 'owner',
    passwordHash: '!',
  })
}, 120_000)
afterAll(async () => {
  await billing.close()
  await events.close()
  client.destroy()
  await s3.close()
  rmSync(directory, { recursive: true, force: true })
})

const archiveUntil = async (id: string, atMs: number) => {
  nowMs = atMs
  await archiveDueHours(
    {
      postgres: events.postgres,
      clickhouse: events.clickhouse,
      billing,
      outbound: openOutbound({ allow: ['127.0.0.1'] }),
      secretBox: createSecretBox([secretKey]),
      temporaryDirectory: join(directory, 'temporary'),
      now: () => nowMs,
      log: { warn: (...said: unknown[]) => problems.push(said) },
    },
    id,
    signal,
  )
}

const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
  const answer = await events.app.inject({ method, url, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
}

/** A project with a bucket, and its archive from nine o'clock on. */
async function openArchive({
  bucket,
  ...more
}: {
  bucket?: string
  daily_records_max?: number
} = {}) {
  const project_id = randomUUID()
  await storeProject(events.postgres, project_id, organizationId)
  const { body: made } = await ask('POST', '/api/v1/integrations', {
    project_id,
    type: 's3',
    name: 'Bucket',
    settings: { endpoint, bucket: bucket ?? 'bucket', prefix: 'raw/' },
    secrets: { access_key_id: 'S3RVER', secret_access_key: 'S3RVER' },
  })
  const integration_id = made.integration.id
  const { status, body } = await ask('POST', '/api/v1/archives', {
    project_id,
    integration_id,
    starts_at: new Date(nine + 5 * minute).toISOString(),
    ...more,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { project_id, integration_id, id: body.archive.archive_id as string }
}
const read = async (id: string) => (await ask('GET', `/api/v1/archives/${id}`)).body.archive

/** An event of this time; it arrives after `lateMs`. */
const at = (project_id: string, timeMs: number, lateMs = 100, more: Row = {}) =>
  eventOf(timeMs, 0, {
    project_id,
    received_at: new Date(timeMs + lateMs).toISOString(),
    ...more,
  })

const objectText = async (Key: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key }))
  return Buffer.from(await Body!.transformToByteArray())
}
/** The names of the project's files in the bucket. */
const filesOf = async (project_id: string): Promise<string[]> => {
  const { Contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: 'bucket', Prefix: `raw/project=${project_id}/` }),
  )
  return Contents.map(({ Key }) => Key!.slice('raw/'.length))
}
/** What DuckDB reads in the files of the manifest of the day. */
async function readWithDuckDb(project_id: string, sql: string) {
  const folder = `project=${project_id}/day=${day}`
  const manifest = JSON.parse((await objectText(`raw/${folder}/manifest.json`)).toString())
  for (const { name, bytes, sha256 } of manifest.files) {
    const file = await objectText(`raw/${folder}/${name}`)
    expect(file.length).toBe(bytes)
    expect(createHash('sha256').update(file).digest('hex')).toBe(sha256)
    const path = join(directory, 'local', folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file)
  }
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const files = join(directory, 'local', folder, '*.parquet')
  const from = `read_parquet('${files}', hive_partitioning = true, union_by_name = true)`
  const rows = (await connection.runAndReadAll(sql.replace('EVENTS', from))).getRowObjectsJson()
  connection.closeSync()
  return { manifest, rows }
}
const charged = async (project_id: string) =>
  (
    await events.postgres.query(
      'SELECT meter, sum(records)::int AS records FROM ledger WHERE project_id = $1 GROUP BY meter',
      [project_id],
    )
  ).rows

describe('an archive', () => {
  test('has every event in one file, late ones in a further file, and DuckDB reads it', async () => {
    const { project_id, id } = await openArchive()
    const own = [
      at(project_id, nine, 100, { event_data: '{"title":"Ä"}', page_url: 'https://a.example/ä' }),
      at(project_id, nine + hour - 1, 5_000),
      at(project_id, nine + 30 * minute, 100, { is_bot: true }),
    ]
    const late = [
      // Arrives before the cutoff, and exactly at it.
      at(project_id, nine + 1, 70 * minute - 2),
      at(project_id, nine + 2, 70 * minute - 2),
      at(project_id, nine + 3, 5 * hour),
    ]
    const other = [
      at(project_id, nine - 1),
      at(randomUUID(), nine),
      at(project_id, nine, 100, { source: 'svcdsp' }),
    ]
    await events.insert([...own, ...late, ...other])
    await archiveUntil(id, nine + 70 * minute - 1)
    expect(await filesOf(project_id)).toEqual([])
    await archiveUntil(id, nine + 70 * minute)
    expect(await filesOf(project_id)).toEqual([
      `project=${project_id}/day=${day}/hour=09.parquet`,
      `project=${project_id}/day=${day}/manifest.json`,
    ])
    await archiveUntil(id, nine + 8 * hour)
    const count = 'SELECT count(*) AS n, count(DISTINCT event_id) AS ids FROM EVENTS'
    const { manifest, rows } = await readWithDuckDb(project_id, count)
    expect(rows).toEqual([{ n: '6', ids: '6' }])
    expect(manifest).toMatchObject({ project_id, day, rows: 6, format: 'parquet' })
    expect(
      manifest.files.map(({ name, rows }: { name: string; rows: number }) => [name, rows]),
    ).toEqual([
      ['hour=09.parquet', 4],
      ['hour=09-2.parquet', 1],
      ['hour=09-3.parquet', 1],
    ])
    const first = await readWithDuckDb(
      project_id,
      `SELECT event_id, event_data, page_url, ts_millis, is_bot, day::varchar AS day
       FROM EVENTS ORDER BY ts_millis LIMIT 1`,
    )
    expect(first.rows).toEqual([
      {
        event_id: own[0]!.event_id,
        event_data: '{"title":"Ä"}',
        page_url: 'https://a.example/ä',
        ts_millis: String(nine),
        is_bot: false,
        day,
      },
    ])
    expect(await charged(project_id)).toEqual([{ meter: 'events', records: 6 }])
    expect(await read(id)).toMatchObject({
      files: 3,
      rows: 6,
      archived_until: new Date(nine + 7 * hour).toISOString(),
      paused_by: null,
    })
  })

  test('has no identity data', async () => {
    const { project_id, id } = await openArchive()
    await events.insert([at(project_id, nine)])
    await archiveUntil(id, nine + 2 * hour)
    const { rows } = await readWithDuckDb(project_id, 'DESCRIBE SELECT * FROM EVENTS')
    const names = rows.map(({ column_name }) => column_name)
    expect(names).toContain('client_ip')
    for (const name of ['hem', 'resolved', 'first_name', 'organization_id', 'spool_id'])
      expect(names).not.toContain(name)
  })

  test('is written by two workers at once and after a crash as if by one', async () => {
    const { project_id, id } = await openArchive()
    await events.insert([at(project_id, nine), at(project_id, nine + hour)])
    await Promise.all([archiveUntil(id, nine + 3 * hour), archiveUntil(id, nine + 3 * hour)])
    // As after a crash before the last statement: the hour is repeated.
    await events.postgres.query('UPDATE archive_files SET stored_at = NULL WHERE archive_id = $1', [
      id,
    ])
    await events.postgres.query('UPDATE archives SET next_hour = starts_at WHERE archive_id = $1', [
      id,
    ])
    await archiveUntil(id, nine + 3 * hour)
    expect(await filesOf(project_id)).toEqual([
      `project=${project_id}/day=${day}/hour=09.parquet`,
      `project=${project_id}/day=${day}/hour=10.parquet`,
      `project=${project_id}/day=${day}/manifest.json`,
    ])
    const { rows } = await readWithDuckDb(project_id, 'SELECT count(*) AS n FROM EVENTS')
    expect(rows).toEqual([{ n: '2' }])
    expect(await charged(project_id)).toEqual([{ meter: 'events', records: 2 }])
  })

  test('lists a file that was stored before a crash, and forgets one whose events are deleted', async () => {
    const { project_id, id } = await openArchive()
    const gone = at(project_id, nine + hour)
    await events.insert([at(project_id, nine), gone])
    await archiveUntil(id, nine + 3 * hour)
    // As after a crash between the last file of each hour and its manifest, in which the second file was not stored.
    await client.send(
      new DeleteObjectCommand({
        Bucket: 'bucket',
        Key: `raw/project=${project_id}/day=${day}/manifest.json`,
      }),
    )
    await events.postgres.query(
      'UPDATE archive_files SET stored_at = NULL WHERE archive_id = $1 AND hour = $2',
      [id, new Date(nine + hour)],
    )
    await events.postgres.query('UPDATE archives SET next_hour = starts_at WHERE archive_id = $1', [
      id,
    ])
    await events.clickhouse.live.command({
      sql: 'ALTER TABLE events DELETE WHERE event_id = {id:UUID} SETTINGS mutations_sync = 2',
      params: { id: gone.event_id },
    })
    await archiveUntil(id, nine + 3 * hour)
    const { manifest } = await readWithDuckDb(project_id, 'SELECT count(*) AS n FROM EVENTS')
    expect(manifest).toMatchObject({ rows: 1, files: [{ name: 'hour=09.parquet', rows: 1 }] })
    expect(await read(id)).toMatchObject({
      archived_until: new Date(nine + 2 * hour).toISOString(),
    })
  })

  test('is repeated after a failure although its own charge used up the budget', async () => {
    const { project_id, integration_id, id } = await openArchive({ bucket: 'missing' })
    await events.postgres.query(
      `INSERT INTO meter_prices (organization_id, meter, micros_per_thousand, free_records_per_month)
       VALUES ($1, 'events', 1000000, 0)`,
      [organizationId],
    )
    await events.postgres.query(
      'INSERT INTO project_budgets (project_id, monthly_micros) VALUES ($1, 1000)',
      [project_id],
    )
    await events.insert([at(project_id, nine)])
    await archiveUntil(id, nine + 2 * hour)
    expect(await read(id)).toMatchObject({ paused_by: 'destination' })
    await ask('PATCH', `/api/v1/integrations/${integration_id}`, {
      settings: { endpoint, bucket: 'bucket', prefix: 'raw/' },
    })
    passedMs += 1_500
    await archiveUntil(id, nine + 2 * hour)
    await events.postgres.query('DELETE FROM meter_prices')
    expect(await read(id)).toMatchObject({ paused_by: null, files: 1 })
    expect(await charged(project_id)).toEqual([{ meter: 'events', records: 1 }])
  })

  test('waits without budget, and says so', async () => {
    const { project_id, id } = await openArchive()
    await events.postgres.query(
      'INSERT INTO project_budgets (project_id, monthly_micros) VALUES ($1, 0)',
      [project_id],
    )
    // The free allowance is used up.
    await events.postgres.query(
      `INSERT INTO meter_prices (organization_id, meter, micros_per_thousand, free_records_per_month)
       VALUES ($1, 'events', 1000000, 0)`,
      [organizationId],
    )
    await events.insert([at(project_id, nine)])
    await archiveUntil(id, nine + 2 * hour)
    expect(await filesOf(project_id)).toEqual([])
    expect(await read(id)).toMatchObject({
      paused_by: 'budget_exceeded',
      archived_until: new Date(nine).toISOString(),
    })
    await events.postgres.query('DELETE FROM project_budgets WHERE project_id = $1', [project_id])
    await events.postgres.query('DELETE FROM meter_prices')
    passedMs += 1_500
    await archiveUntil(id, nine + 2 * hour)
    expect(await read(id)).toMatchObject({ paused_by: null, files: 1 })
  })

  test('waits beyond its daily maximum, mails the owners once, and continues when it is raised', async () => {
    const { project_id, id } = await openArchive({ daily_records_max: 2 })
    await events.insert([
      at(project_id, nine),
      at(project_id, nine + hour),
      at(project_id, nine + hour + 1),
      at(project_id, nine + 2 * hour),
    ])
    const mails = async () =>
      (
        await events.postgres.query('SELECT recipient FROM outbox_mails WHERE body LIKE $1', [
          `%${id}%`,
        ])
      ).rows
    for (let times = 0; times < 2; times++) await archiveUntil(id, nine + 4 * hour)
    expect(await read(id)).toMatchObject({
      paused_by: 'daily_records_max',
      paused_reason: expect.stringContaining('charged 1 of 2 events today'),
      archived_until: new Date(nine + hour).toISOString(),
      files: 1,
    })
    expect(await charged(project_id)).toEqual([{ meter: 'events', records: 1 }])
    expect(await mails()).toEqual([{ recipient: 'owner@acme.example' }])
    await ask('PATCH', `/api/v1/archives/${id}`, { daily_records_max: 1 })
    await archiveUntil(id, nine + 4 * hour)
    expect((await read(id)).paused_reason).toContain('The next hour has 2 events')
    const { body } = await ask('PATCH', `/api/v1/archives/${id}`, { daily_records_max: 100 })
    expect(body.archive).toMatchObject({ active: true, daily_records_max: 100, paused_by: null })
    await archiveUntil(id, nine + 4 * hour)
    expect(await read(id)).toMatchObject({ paused_by: null, rows: 4 })
  })

  test('of a bucket that does not exist waits, and says why', async () => {
    const { project_id, id } = await openArchive({ bucket: 'missing' })
    await events.insert([at(project_id, nine)])
    await archiveUntil(id, nine + 2 * hour)
    expect(await read(id)).toMatchObject({
      paused_by: 'destination',
      paused_reason: expect.stringContaining('NoSuchBucket'),
    })
  })

  test('can be paused and deleted, and belongs to its organization', async () => {
    const { project_id, integration_id, id } = await openArchive()
    expect(await ask('POST', '/api/v1/archives', { project_id, integration_id })).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    })
    await events.insert([at(project_id, nine)])
    const url = `/api/v1/archives/${id}`
    expect((await ask('PATCH', url, { active: false })).body.archive.active).toBe(false)
    await archiveUntil(id, nine + 2 * hour)
    expect(await filesOf(project_id)).toEqual([])
    const headers = { 'x-organization': randomUUID() }
    expect((await events.app.inject({ url, headers })).statusCode).toBe(404)
    expect((await ask('DELETE', url)).status).toBe(204)
    expect((await ask('GET', url)).status).toBe(404)
  })

  test.each([
    ['another integration', { integration_id: randomUUID() }, 'integration_id'],
    ['a start in the future', { starts_at: '2100-01-01T00:00:00Z' }, 'starts_at'],
  ])('is refused with %s', async (_, more, parameter) => {
    const { project_id, integration_id } = await openArchive()
    const answer = await ask('POST', '/api/v1/archives', { project_id, integration_id, ...more })
    expect(answer).toMatchObject({ status: 400, body: { parameter } })
  })
})

test('no job failed', () => expect(problems).toEqual([]))
