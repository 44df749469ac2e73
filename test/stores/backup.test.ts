/** `npx footfall backup`, `restore`, `spool ship`, `doctor` and `migrate`, on local stores as `npm start` has them. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { sampleMessageId } from '../../collector/ops/sandbox/sampleRecords.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { beaconOf, customEvent, postBeacon, readEvent, readRows } from '../harness/api.ts'
import { newEmptyPostgresDatabase, ownDatabases, randomName } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

let directory: string
let service: Service
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-backup-'))
  service = await startService({ dataDir: join(directory, 'data') })
})
afterAll(async () => {
  await service.end('SIGTERM')
  rmSync(directory, { recursive: true, force: true })
})

/** Runs a command as an operator does, beside the service of `dataDir` or without one. */
const footfall = (dataDir: string, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(packageRoot, 'dist/collector/cli.js'), ...args],
      { env: { ...process.env, ...env, FOOTFALL_DATA_DIR: dataDir } },
      (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })

/** What a service that nobody asks anything writes all the time, and which migrations it had when. */
const writtenByItself = [
  'collectors',
  'ship_turns',
  'shipped_ids',
  'pixel_listening',
  'pixel_voices',
  'migrations',
  'sql_functions',
]

/** Everything that both stores of a service hold, row by row; what each second changes is left out. */
async function readStores({ dataDir }: Service) {
  const { clickhouse_url, clickhouse_database, postgres_url } = JSON.parse(
    readFileSync(join(dataDir, 'stores.json'), 'utf8'),
  )
  const clickhouse = openClickHouse(clickhouse_url, clickhouse_database)
  const postgres = openPostgres(postgres_url, () => {})
  const held: Record<string, unknown[]> = {}
  const tables = await clickhouse.rows<{ name: string }>({
    sql: "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
    params: {},
  })
  for (const { name } of tables) {
    const rows = await clickhouse.rows({ sql: `SELECT * FROM ${name}`, params: {} })
    held[`ClickHouse: ${name}`] = rows.map((row) => JSON.stringify(row)).sort()
  }
  const { rows: names } = await postgres.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  )
  for (const { name } of names.filter(({ name }) => !writtenByItself.includes(name))) {
    const { rows } = await postgres.query<{ row: string }>(
      `SELECT to_json(t)::text AS row FROM "${name}" t ORDER BY 1`,
    )
    held[`PostgreSQL: ${name}`] = rows.map(({ row }) =>
      name === 'outbox_messages' && row.includes(`"message_id":"${sampleMessageId}"`)
        ? row.replace(/"created_at":"[^"]+"/, '"created_at":"the last start"')
        : row,
    )
  }
  await clickhouse.close()
  await postgres.end()
  return held
}

const textsThatBreakLines = { text: 'a\u2028b\u2029c\nd\re\\n"f\' é 🦊', empty: '' }

test('a restored backup equals what was backed up, event by event and charge by charge', async () => {
  const events = Array.from({ length: 30 }, (_, number) =>
    customEvent({ ...textsThatBreakLines, number }),
  )
  await postBeacon(service.url, beaconOf(service, [...events, { event_type: 'nothing' }]))
  await readEvent(service, events[0]!.event_id)
  const charged = await readRows(service, { limit: '7' })
  expect(charged).toHaveLength(7)
  const webhook = await fetch(`${service.url}/api/v1/webhooks`, {
    method: 'POST',
    headers: {
      'x-api-key': service.demo.api_key,
      'x-api-secret': service.demo.api_secret,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      url: 'https://hooks.example/footfall',
      event_types: ['audience.built'],
    }),
  })
  expect([webhook.status, await webhook.text()]).toEqual([201, expect.any(String)])
  await waitFor(
    'the rejected event',
    async () => (await readStores(service))['ClickHouse: rejected_events']!.length === 1,
  )

  // Acknowledged, and perhaps still in the spool.
  const last = Array.from({ length: 30 }, (_, number) => customEvent({ number }))
  await postBeacon(service.url, beaconOf(service, last))
  const backup = join(directory, 'backup')
  expect(await footfall(service.dataDir, ['backup', backup])).toEqual({
    code: 0,
    output: expect.stringContaining(`${backup} is complete`),
  })
  // Not through the API, which would charge it.
  const readAll = (of: Service) =>
    waitFor('all events', async () => {
      const held = await readStores(of)
      return held['ClickHouse: events']!.length === 60 ? held : null
    })
  const before = await readAll(service)
  expect(before['PostgreSQL: ledger']!.length).toBeGreaterThan(1)

  const dataDir = join(directory, 'restored')
  expect(await footfall(dataDir, ['restore', backup])).toEqual({
    code: 0,
    output: expect.stringContaining('Now start'),
  })
  const restored = await startService({ dataDir })
  try {
    expect(await readAll(restored)).toEqual(before)
    expect(restored.demo.api_secret).toBe(service.demo.api_secret)
    expect(await readRows(restored, { limit: '100' })).toHaveLength(60)
  } finally {
    await restored.end('SIGTERM')
  }
}, 600_000)

test('a backup is restored into empty places alone, and a directory that holds none is said to', async () => {
  const { dataDir } = service
  const filled = join(directory, 'backup')
  expect(await footfall(dataDir, ['backup', filled])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ is not empty/),
  })
  expect(await footfall(dataDir, ['restore', filled])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ is not empty/),
  })
  expect(await footfall(join(directory, 'new'), ['restore', directory])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ does not contain a complete backup/),
  })
  const { DATABASE_URL } = await ownDatabases()
  expect(
    await footfall(join(directory, 'new'), ['restore', filled], { DATABASE_URL: DATABASE_URL! }),
  ).toMatchObject({
    code: 1,
    output: 'footfall: PostgreSQL already has tables: restore into an empty database\n',
  })
})

test('a damaged backup is refused before the first row, and a restore that was cut off before a start', async () => {
  const backup = join(directory, 'to be damaged')
  expect(await footfall(service.dataDir, ['backup', backup])).toMatchObject({ code: 0 })
  const env = { DATABASE_URL: await newEmptyPostgresDatabase() }
  const target = join(directory, 'refused')
  for (const part of ['postgres/users.jsonl.gz', 'clickhouse', 'files']) {
    const [path, aside] = [join(backup, part), join(directory, 'aside')]
    renameSync(path, aside)
    expect([part, await footfall(target, ['restore', backup], env)]).toMatchObject([
      part,
      { code: 1, output: expect.stringMatching(/^footfall: .*the backup is damaged\n$/) },
    ])
    renameSync(aside, path)
  }
  const file = join(backup, 'postgres/users.jsonl.gz')
  const content = readFileSync(file)
  writeFileSync(file, content.subarray(0, -9))
  expect((await footfall(target, ['restore', backup], env)).output).toMatch(
    /cannot be read .*is damaged\n$/,
  )
  writeFileSync(file, content)
  const postgres = openPostgres(env.DATABASE_URL, () => {})
  onTestFinished(() => postgres.end())
  const tables = await postgres.query("SELECT FROM pg_tables WHERE schemaname = 'public'")
  expect(tables.rowCount).toBe(0)

  // What no look at the files can find: PostgreSQL refuses a row when others are stored already.
  const text = gunzipSync(content).toString()
  writeFileSync(file, gzipSync(text.replace(/^\["[^"]+"/, '["no uuid"')))
  const halfway = await footfall(target, ['restore', backup], env)
  expect(halfway).toEqual({ code: 1, output: expect.stringContaining('no uuid') })
  await expect(startService({ dataDir: target })).rejects.toThrow(
    /a restore into .* did not finish/,
  )
}, 600_000)

test('what a collector that is gone had not shipped is shipped by hand, each event once', async () => {
  const env = await ownDatabases()
  // A machine that never reached ClickHouse, and lost its power.
  const gone = await startService({
    env: { ...env, CLICKHOUSE_URL: 'http://127.0.0.1:9', FOOTFALL_ROLE: 'ingest' },
  })
  onTestFinished(() => rmSync(gone.dataDir, { recursive: true, force: true }))
  const events = Array.from({ length: 5 }, () => customEvent())
  expect((await postBeacon(gone.url, beaconOf(gone, events))).status).toBe(200)
  await gone.end('SIGKILL')

  const clickhouse = openClickHouse(env.CLICKHOUSE_URL!, env.CLICKHOUSE_DATABASE!)
  onTestFinished(() => clickhouse.close())
  const ids = async () =>
    (
      await clickhouse.rows<{ event_id: string }>({
        sql: 'SELECT event_id FROM events',
        params: {},
      })
    ).map(({ event_id }) => event_id)
  const ship = () => footfall(join(directory, 'elsewhere'), ['spool', 'ship', gone.dataDir], env)
  expect(await ship()).toEqual({
    code: 0,
    output: expect.stringMatching(
      /^5 rows are now in ClickHouse; 0 events .+\n.+ collectors retire [0-9a-f-]{36}\n$/,
    ),
  })
  const sent = events.map(({ event_id }) => event_id).sort()
  expect((await ids()).sort()).toEqual(sent)
  expect(await ship()).toMatchObject({ code: 0 })
  expect((await ids()).sort()).toEqual(sent)
  expect(await footfall(directory, ['spool', 'ship', directory], env)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ contains no spool\n$/),
  })
}, 600_000)

test('doctor says in plain words what is well and what is not; migrate makes schemas', async () => {
  const well = await footfall(service.dataDir, ['doctor'], { PORT: new URL(service.url).port })
  expect(well).toEqual({ code: 0, output: expect.stringMatching(/All is well\.\n$/) })
  expect(well.output).toMatch(/^✓ collector \S+ on \S+ has all but the last .+ in ClickHouse$/m)

  const env = {
    DATABASE_URL: await newEmptyPostgresDatabase(),
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: randomName(),
    PORT: String(await freePort()),
  }
  const elsewhere = join(directory, 'examined')
  mkdirSync(elsewhere)
  const first = await footfall(elsewhere, ['doctor'], env)
  expect(first).toMatchObject({ code: 1 })
  expect(first.output).toMatch(
    /^✗ PostgreSQL lacks 001_organizations\.sql, .+: start the service, or run npx footfall migrate$/m,
  )
  expect(first.output).toMatch(/^✗ ClickHouse lacks 001_collection\.sql, /m)
  expect(first.output).toMatch(/^✗ no service answers at /m)
  expect(await footfall(elsewhere, ['migrate'], env)).toMatchObject({ code: 0 })
  const second = await footfall(elsewhere, ['doctor'], {
    ...env,
    CLICKHOUSE_URL: 'http://127.0.0.1:9',
  })
  expect(second.output).toContain("✓ PostgreSQL has this version's schema")
  expect(second.output).toMatch(/^✗ ClickHouse cannot be queried: .+$/m)
  expect((await footfall(elsewhere, ['doctor'], env)).output).toContain(
    "✓ ClickHouse has this version's schema",
  )
}, 600_000)
