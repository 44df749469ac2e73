/** `npx footfall-server backup`, `restore`, `spool ship`, `doctor` and `migrate`, on local stores as `npm start` has them. */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { dumpPostgres, inSnapshot } from '../../collector/ops/backup/dumpPostgres.ts'
import { noteLastBackup } from '../../collector/ops/backup/lastBackup.ts'
import {
  findBackup,
  type Manifest,
  readManifest,
  writeManifest,
} from '../../collector/ops/backup/manifest.ts'
import { ObjectWriter, objectName } from '../../collector/ops/backup/objectStore.ts'
import { openDirectoryStore } from '../../collector/ops/backup/openObjectStore.ts'
import { sampleMessageId } from '../../collector/ops/sandbox/sampleRecords.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { makeTablesOf, migrationNames } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { beaconOf, customEvent, postBeacon, readEvent, readRows } from '../harness/api.ts'
import { cli, runNextTo } from '../harness/commands.ts'
import { newEmptyPostgresDatabase, ownDatabases, randomName } from '../harness/databases.ts'
import { startS3 } from '../harness/s3.ts'
import { type Service, secretKey, startService, waitFor } from '../harness/service.ts'

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

/** Data that an idle service writes all the time, and the times of migrations. */
const writtenByItself = [
  'collectors',
  'ship_leases',
  'shipped_ids',
  'pixel_listening',
  'pixel_voices',
  'migrations',
  'sql_functions',
  'leases',
  'hits_progress',
  // A backup writes it when it is complete.
  'last_backup',
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
    sql: "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'migrations'",
    params: {},
  })
  for (const { name } of tables) {
    const rows = await clickhouse.rows({
      sql: `SELECT * ${name === 'hits' ? 'EXCEPT is_late ' : ''}FROM ${name}`,
      params: {},
    })
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

test('a backup right after a single event works, and says what it read again', async () => {
  const event = customEvent()
  await postBeacon(service.url, beaconOf(service, [event]))
  await readEvent(service, event.event_id)
  const backup = join(directory, 'quiet')
  expect(await runNextTo(service.dataDir, ['backup', backup])).toEqual({
    code: 0,
    output: expect.stringContaining('all kept objects were read and are intact'),
  })
  expect(await runNextTo(service.dataDir, ['backup', backup])).toEqual({
    code: 0,
    output: expect.stringMatching(/kept objects were last read at 20\S+Z; --verify reads them now/),
  })
}, 600_000)

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
  await waitFor('the rejected event, and the last request in the log', async () => {
    const held = await readStores(service)
    const requests = held['ClickHouse: api_requests']!.map(String)
    return (
      held['ClickHouse: rejected_events']!.length === 1 &&
      requests.some((row) => row.includes('/api/v1/webhooks'))
    )
  })

  // Acknowledged, and perhaps still in the spool.
  const last = Array.from({ length: 30 }, (_, number) => customEvent({ number }))
  await postBeacon(service.url, beaconOf(service, last))
  const backup = join(directory, 'backup')
  expect(await runNextTo(service.dataDir, ['backup', backup])).toEqual({
    code: 0,
    output: expect.stringContaining(`in ${backup} is complete`),
  })
  // Not through the API, which would charge it.
  const readAll = (of: Service) =>
    waitFor(
      'all events',
      async () => {
        const held = await readStores(of)
        // Hits are not in the backup. The service builds them again.
        const tables = ['events', 'hits'].map((name) => held[`ClickHouse: ${name}`]!.length)
        return tables.every((rows) => rows === 61) ? held : null
      },
      150_000,
    )
  const before = await readAll(service)
  expect(before['PostgreSQL: ledger']!.length).toBeGreaterThan(1)

  const dataDir = join(directory, 'restored')
  expect(await runNextTo(dataDir, ['restore', backup])).toEqual({
    code: 0,
    output: expect.stringContaining('Now start'),
  })
  const restored = await startService({ dataDir })
  try {
    expect(await readAll(restored)).toEqual(before)
    expect(restored.demo.api_secret).toBe(service.demo.api_secret)
    expect(await readRows(restored, { limit: '100' })).toHaveLength(61)
  } finally {
    await restored.end('SIGTERM')
  }
}, 600_000)

test('a backup is restored into empty places alone, and a directory that holds none is said to', async () => {
  const { dataDir } = service
  const filled = join(directory, 'backup')
  expect(await runNextTo(dataDir, ['restore', filled])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ is not empty/),
  })
  const target = join(directory, 'new')
  expect(await runNextTo(target, ['restore', directory])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ contains no complete backup\n$/),
  })
  expect(await runNextTo(target, ['restore', filled, '--backup', '2020-01-01'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/has no backup 2020-01-01: it has 20/),
  })
  expect(await runNextTo(target, ['restore'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /^footfall: name a directory for backups, or set FOOTFALL_BACKUP/,
    ),
  })
  const used = await ownDatabases()
  for (const [env, full] of [
    [{ ...used, CLICKHOUSE_DATABASE: randomName() }, 'PostgreSQL already has tables'],
    [{ ...used, DATABASE_URL: await newEmptyPostgresDatabase() }, 'ClickHouse at '],
  ] as const)
    expect(await runNextTo(target, ['restore', filled], env)).toMatchObject({
      code: 1,
      output: expect.stringMatching(new RegExp(`^footfall: ${full}.*restore into (an )?empty`)),
    })
})

/** The files of a backup's objects that have rows of a store, or files. */
const objectsOf = (backup: string, start: string): string[] =>
  readdirSync(join(backup, 'objects'))
    .filter((name) => name.startsWith(start))
    .map((name) => join(backup, 'objects', name))

/** A target whose stores are empty, and a check that they still are. */
async function emptyTarget() {
  const env = {
    DATABASE_URL: await newEmptyPostgresDatabase(),
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: randomName(),
  }
  const postgres = openPostgres(env.DATABASE_URL, () => {})
  const clickhouse = openClickHouse(env.CLICKHOUSE_URL, 'default')
  onTestFinished(async () => {
    await postgres.end()
    for (const name of [env.CLICKHOUSE_DATABASE, `${env.CLICKHOUSE_DATABASE}_test`])
      await clickhouse.command({ sql: `DROP DATABASE IF EXISTS ${name}`, params: {} })
    await clickhouse.close()
  })
  return {
    env,
    postgres,
    async expectEmpty() {
      const tables = await postgres.query("SELECT FROM pg_tables WHERE schemaname = 'public'")
      expect(tables.rowCount).toBe(0)
      const found = await clickhouse.rows({
        sql: 'SELECT name FROM system.tables WHERE startsWith(database, {database:String})',
        params: { database: env.CLICKHOUSE_DATABASE },
      })
      expect(found).toEqual([])
    },
  }
}

test('a damaged backup is refused before the first row, and a restore that was cut off before a start', async () => {
  const backup = join(directory, 'to be damaged')
  expect(await runNextTo(service.dataDir, ['backup', backup])).toMatchObject({ code: 0 })
  const { env, postgres, expectEmpty } = await emptyTarget()
  const target = join(directory, 'refused')
  const refuses = async (reason: RegExp) => {
    for (const options of [[], ['--check']]) {
      const refused = await runNextTo(target, ['restore', backup, ...options], env)
      expect(refused).toEqual({ code: 1, output: expect.stringMatching(reason) })
    }
    await expectEmpty()
  }
  const [manifest] = readdirSync(join(backup, 'backups'))
  for (const file of [
    objectsOf(backup, 'postgres')[0]!,
    objectsOf(backup, 'events-')[0]!,
    objectsOf(backup, 'file')[0]!,
    join(backup, 'backups', manifest!),
  ]) {
    const isManifest = file.endsWith(manifest!)
    const content = readFileSync(file)
    rmSync(file)
    await refuses(
      isManifest ? /no complete backup, only parts/ : /is missing: the backup is damaged/,
    )
    writeFileSync(file, content.subarray(0, -9))
    await refuses(/has \d+ bytes, and should have \d+: the backup is damaged/)
    const changed = Buffer.from(content)
    changed[20]! ^= 1
    writeFileSync(file, changed)
    await refuses(/has other bytes than were written: the backup is damaged/)
    writeFileSync(file, content)
  }
  expect(await runNextTo(target, ['restore', backup, '--check'], env)).toMatchObject({
    code: 0,
    output: expect.stringContaining('is intact'),
  })

  // The schema of a version to come.
  const [named] = await rewriteManifest(backup, (written) =>
    written.postgres.migrations.push('999_later.sql'),
  )
  await refuses(/another version of Footfall has migrated PostgreSQL \(999_later\.sql\)/)
  rmSync(join(backup, 'backups', named!))

  // What no look at the files can find: PostgreSQL refuses a row when others are stored already.
  const users = (written: Manifest) => written.postgres.tables.find(({ name }) => name === 'users')!
  await rewriteManifest(backup, (written) => {
    const old = readFileSync(join(backup, 'objects', users(written).objects[0]!))
    const text = gunzipSync(old).toString()
    const bytes = gzipSync(text.replace(/^\["[^"]+"/, '["no uuid"'))
    const object = objectName('postgres', bytes)
    writeFileSync(join(backup, 'objects', object), bytes)
    users(written).objects = [object]
  })
  const halfway = await runNextTo(target, ['restore', backup], env)
  expect(halfway).toEqual({ code: 1, output: expect.stringContaining('no uuid') })
  await expect(startService({ dataDir: target })).rejects.toThrow(
    /a restore into .* did not finish/,
  )
  // Another machine, and another try.
  await expect(startService({ env })).rejects.toThrow(/a restore into these stores did not finish/)
  expect(await runNextTo(target, ['restore', backup], env)).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /did not finish.* empty the data directory and drop both databases/,
    ),
  })
  await postgres.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  rmSync(target, { recursive: true })
  const [good] = await runNextTo(target, ['backups', backup]).then(({ output }) =>
    output.split('\n').slice(-2),
  )
  expect(
    await runNextTo(target, ['restore', backup, '--backup', good!.split(' ', 1)[0]!], env),
  ).toEqual({ code: 0, output: expect.stringContaining('Now start') })
}, 600_000)

/** Writes a changed copy of a directory's newest manifest, as a later backup; returns its name. */
async function rewriteManifest(
  backup: string,
  change: (manifest: Manifest) => void,
): Promise<string[]> {
  const store = openDirectoryStore(backup)
  const manifest = await readManifest(store, await findBackup(store))
  change(manifest)
  manifest.created_at = new Date(Date.parse(manifest.created_at) + 1).toISOString()
  const { file } = await writeManifest(store, manifest)
  return [file]
}

test('a second backup writes what is new; a killed one is repeated; old ones are removed', async () => {
  const backup = join(directory, 'several')
  const back = () => runNextTo(service.dataDir, ['backup', backup])
  const writtenIn = ({ output }: { output: string }) => {
    const [, written, kept] =
      /written: \d+ objects?, (\d+) bytes; kept from earlier backups: \d+ objects?, (\d+)/.exec(
        output,
      )!
    return { written: Number(written), kept: Number(kept) }
  }
  const killed = execFile(process.execPath, [cli, 'backup', backup], {
    env: { ...process.env, FOOTFALL_DATA_DIR: service.dataDir },
  })
  const ended = new Promise((resolve) => killed.once('exit', (_, signal) => resolve(signal)))
  await waitFor('rows of ClickHouse', () =>
    existsSync(join(backup, 'objects'))
      ? objectsOf(backup, '').some((path) => /\/\w+-[0-9a-f]{32}-/.test(path))
      : false,
  )
  killed.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  expect(await runNextTo(service.dataDir, ['backups', backup])).toMatchObject({
    output: expect.stringContaining('contains no complete backup'),
  })
  // Its lease ends by itself.
  const first = await waitFor('the lease', async () => {
    const done = await back()
    if (done.code === 0) return done
    expect(done.output).toContain('another process is writing or removing backups')
    return null
  })
  expect(writtenIn(first).kept).toBeGreaterThan(0)
  const left = Object.keys(await readStores(service)).filter((name) => name.includes('backup_'))
  expect(left).toEqual([])

  const events = Array.from({ length: 20 }, (_, number) => customEvent({ number }))
  await postBeacon(service.url, beaconOf(service, events))
  await readEvent(service, events[0]!.event_id)
  const second = await back()
  expect(second.code).toBe(0)
  expect(writtenIn(second).written).toBeGreaterThan(0)
  expect(writtenIn(second).written).toBeLessThan(writtenIn(second).kept / 2)

  const before = readdirSync(join(backup, 'objects')).length
  expect(await runNextTo(service.dataDir, ['backups', backup, '--keep', '1'])).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^removed 1 backup and [1-9]\d* objects?; kept 1 backup\n/),
  })
  expect(readdirSync(join(backup, 'objects')).length).toBeLessThan(before)
  expect(await runNextTo(join(directory, 'unused'), ['restore', backup, '--check'])).toMatchObject({
    code: 0,
  })
}, 600_000)

test('a damaged object is found when it is reused, and written again', async () => {
  const backup = join(directory, 'flipped')
  const back = (...options: string[]) => runNextTo(service.dataDir, ['backup', backup, ...options])
  const check = () => runNextTo(join(directory, 'unused'), ['restore', backup, '--check'])
  expect(await back()).toMatchObject({ code: 0 })
  const flip = (path: string) => {
    const bytes = readFileSync(path)
    bytes[20]! ^= 1
    writeFileSync(path, bytes)
    return path
  }
  const store = openDirectoryStore(backup)
  const { postgres } = await readManifest(store, await findBackup(store))
  const [pixels] = postgres.tables.find(({ name }) => name === 'pixels')!.objects
  const flipped = [flip(objectsOf(backup, 'events-')[0]!), flip(join(backup, 'objects', pixels!))]

  // Within a week, a backup trusts what earlier ones have read.
  expect((await back()).output).not.toContain('damaged')
  expect(await check()).toMatchObject({ code: 1 })
  const verified = await back('--verify')
  expect(verified).toMatchObject({ code: 0 })
  expect(verified.output).toContain(
    'damaged objects of earlier backups, which this backup has replaced: ',
  )
  for (const path of flipped) expect(verified.output).toContain(path.split('/').at(-1))
  expect(await check()).toMatchObject({ code: 0 })

  flip(objectsOf(backup, 'events-')[0]!)
  await rewriteManifest(backup, (written) => {
    written.verified_at = new Date(Date.parse(written.verified_at) - 8 * 86_400_000).toISOString()
  })
  expect((await back()).output).toContain('which this backup has replaced: events-')
  expect(await check()).toMatchObject({ code: 0 })
}, 600_000)

test('a backup can be read by hand: JSON, gzip, zstd and ClickHouse’s Native format', async () => {
  const backup = join(directory, 'quiet')
  const [file] = readdirSync(join(backup, 'backups'))
  const manifest: Manifest = JSON.parse(readFileSync(join(backup, 'backups', file!), 'utf8'))
  const bytesOf = (name: string) => readFileSync(join(backup, 'objects', name))
  const pixels = manifest.postgres.tables.find(({ name }) => name === 'pixels')!
  const rows = pixels.objects
    .flatMap((name) => gunzipSync(bytesOf(name)).toString().trimEnd().split('\n'))
    .map((line) => JSON.parse(line)[pixels.columns.findIndex(({ name }) => name === 'pixel_id')])
  expect(rows).toContain(service.demo.pixel_id)

  const { columns, chunks } = manifest.clickhouse.tables.find(
    ({ name, database }) => name === 'events' && database === 'live',
  )!
  const native = Buffer.concat(chunks.map(({ object }) => zstdDecompressSync(bytesOf(object))))
  const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  const table = randomName()
  onTestFinished(async () => {
    await clickhouse.command({ sql: `DROP TABLE ${table}`, params: {} })
    await clickhouse.close()
  })
  const types = columns.map(({ name, type }) => `${name} ${type}`).join(', ')
  await clickhouse.command({ sql: `CREATE TABLE ${table} (${types}) ENGINE = Memory`, params: {} })
  const { username, password, origin } = new URL(inject('clickhouseUrl'))
  const answer = await fetch(`${origin}/?query=INSERT INTO ${table} FORMAT Native`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
    body: native,
  })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
  expect(await clickhouse.rows({ sql: `SELECT event_type FROM ${table}`, params: {} })).toEqual([
    { event_type: 'custom' },
  ])
})

/** Stores of a version before the last migration of PostgreSQL. */
async function olderStores(lastPlace: string): Promise<Record<string, string>> {
  const env = { ...(await ownDatabases()), DATABASE_URL: await newEmptyPostgresDatabase() }
  const postgres = openPostgres(env.DATABASE_URL, () => {})
  const client = await postgres.connect()
  await makeTablesOf(client, migrationNames().slice(0, -1))
  client.release()
  const file = 'collector/platform/postgres/functions/complete_until.sql'
  await postgres.query(readFileSync(join(packageRoot, file), 'utf8'))
  await postgres.query("INSERT INTO users (email, password_hash) VALUES ('old@example.com', 'x')")
  await noteLastBackup(postgres, {
    backup_id: 'earlier',
    place: lastPlace,
    created_at: new Date().toISOString(),
    complete_until: null,
    verified_at: new Date().toISOString(),
    bytes: 0,
    damaged_objects: 0,
  })
  await postgres.end()
  return env
}

test('a start backs up before it migrates, migrates nothing if that fails, and the way back works', async () => {
  const place = join(directory, 'before the migration')
  const env = await olderStores(place)
  const migrated = async ({ DATABASE_URL }: Record<string, string>) => {
    const postgres = openPostgres(DATABASE_URL!, () => {})
    const { rowCount } = await postgres.query('SELECT FROM migrations')
    await postgres.end()
    return rowCount
  }
  mkdirSync(join(place, 'backups'), { recursive: true })
  writeFileSync(join(place, 'objects'), 'not a directory')
  await expect(startService({ env })).rejects.toThrow(
    /the backup before the migration failed: .*Nothing was migrated\. Start again, or run npx footfall-server migrate --no-backup/,
  )
  expect(await migrated(env)).toBe(migrationNames().length - 1)

  rmSync(join(place, 'objects'))
  const upgraded = await startService({ env })
  expect(upgraded.output()).toMatch(
    /backing up to \S.+ before the migration\nfootfall: backup \S+ in .+ has the stores before the migration/,
  )
  expect(await migrated(env)).toBe(migrationNames().length)
  await upgraded.end('SIGTERM')
  const again = await startService({ env, dataDir: upgraded.dataDir })
  expect(again.output()).not.toContain('before the migration')
  await again.stop()

  const store = openDirectoryStore(place)
  const manifest = await readManifest(store, await findBackup(store))
  expect(manifest.postgres.migrations).toEqual(migrationNames().slice(0, -1))
  const target = await emptyTarget()
  expect(await runNextTo(join(directory, 'way back'), ['restore', place], target.env)).toEqual({
    code: 0,
    output: expect.stringContaining('Now start'),
  })
  const { rows } = await target.postgres.query('SELECT email FROM users')
  expect(rows).toEqual([{ email: 'old@example.com' }])

  const other = await olderStores('/nowhere')
  const forced = await runNextTo(directory, ['migrate', '--no-backup'], other)
  expect(forced).toEqual({ code: 0, output: expect.not.stringContaining('backup') })
}, 600_000)

test('a row that is added to a table of PostgreSQL changes one piece of its backup', async () => {
  const postgres = openPostgres(await newEmptyPostgresDatabase(), () => {})
  onTestFinished(() => postgres.end())
  await postgres.query(
    `CREATE TABLE migrations (name text);
     CREATE TABLE numbers (id int PRIMARY KEY, text text NOT NULL);
     INSERT INTO numbers SELECT n, md5(n::text) FROM generate_series(2, 80000, 2) n ORDER BY random()`,
  )
  const store = openDirectoryStore(join(directory, 'pieces'))
  const dump = async () => {
    const writer = new ObjectWriter(store, await store.list('objects'))
    const { tables } = await inSnapshot(postgres, (snapshot) => dumpPostgres(snapshot, writer))
    return { written: writer.written.objects, ...tables.find(({ name }) => name === 'numbers')! }
  }
  const first = await dump()
  expect([first.rows, first.written]).toEqual([40_000, first.objects.length])
  expect(first.written).toBeGreaterThan(3)
  await postgres.query("INSERT INTO numbers VALUES (4001, 'new')")
  const second = await dump()
  expect(second.rows).toBe(40_001)
  expect([1, 2]).toContain(second.written)
})

test('backups in a store that speaks S3', async () => {
  const s3 = await startS3(join(directory, 's3'), 'backups')
  onTestFinished(() => s3.close())
  const env = {
    FOOTFALL_BACKUP_S3_ENDPOINT: s3.endpoint,
    FOOTFALL_BACKUP_S3_BUCKET: 'backups',
    FOOTFALL_BACKUP_S3_PREFIX: 'footfall/live',
    FOOTFALL_BACKUP_S3_ACCESS_KEY_ID: 'S3RVER',
    FOOTFALL_BACKUP_S3_SECRET_ACCESS_KEY: 'S3RVER',
  }
  const wrong = {
    ...env,
    FOOTFALL_BACKUP_S3_ACCESS_KEY_ID: 'unknown',
    FOOTFALL_BACKUP_S3_SECRET_ACCESS_KEY: 'a-wrong-secret',
  }
  const refused = await runNextTo(service.dataDir, ['backup'], wrong)
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /^footfall: http:\S+ refused s3:\/\/backups\/footfall\/live\/: InvalidAccessKeyId .*FOOTFALL_BACKUP_S3_\*\n$/,
    ),
  })
  expect(refused.output).not.toContain('a-wrong-secret')
  const unreachable = { ...env, FOOTFALL_BACKUP_S3_ENDPOINT: 'http://127.0.0.1:9' }
  expect(await runNextTo(service.dataDir, ['backup'], unreachable)).toMatchObject({
    code: 1,
    output: expect.stringContaining('cannot be reached for s3://backups/footfall/live/'),
  })

  expect(await runNextTo(service.dataDir, ['backup'], env)).toMatchObject({ code: 0 })
  const again = await runNextTo(service.dataDir, ['backup'], env)
  expect(again.output).toMatch(/kept from earlier backups: \d\d+ objects?/)
  expect(await runNextTo(service.dataDir, ['backups', '--keep', '1'], env)).toMatchObject({
    output: expect.stringMatching(/^removed 1 backup and [1-9]\d* objects?;/),
  })
  const target = await emptyTarget()
  const restored = await runNextTo(join(directory, 'from s3'), ['restore'], {
    ...env,
    ...target.env,
  })
  expect(restored).toEqual({ code: 0, output: expect.stringContaining('Now start') })
  const { rows } = await target.postgres.query('SELECT count(*)::int AS count FROM pixels')
  const clickhouse = openClickHouse(target.env.CLICKHOUSE_URL, target.env.CLICKHOUSE_DATABASE)
  onTestFinished(() => clickhouse.close())
  const count = 'SELECT count() AS count FROM events'
  const [events] = await clickhouse.rows<{ count: number }>({ sql: count, params: {} })
  const held = await readStores(service)
  expect([rows[0].count, events!.count]).toEqual([
    held['PostgreSQL: pixels']!.length,
    held['ClickHouse: events']!.length,
  ])
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
  const ship = () => runNextTo(join(directory, 'elsewhere'), ['spool', 'ship', gone.dataDir], env)
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
  expect(await runNextTo(directory, ['spool', 'ship', directory], env)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^footfall: \S+ contains no spool\n$/),
  })
}, 600_000)

test('doctor says in plain words what is well and what is not; migrate makes schemas', async () => {
  const well = await runNextTo(service.dataDir, ['doctor'], {
    PORT: new URL(service.url).port,
    FOOTFALL_SECRET_KEY: secretKey,
  })
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
  const first = await runNextTo(elsewhere, ['doctor'], env)
  expect(first).toMatchObject({ code: 1 })
  expect(first.output).toMatch(
    /^✗ PostgreSQL lacks 001_organizations\.sql@\w+, .+: start the service, or run npx footfall-server migrate$/m,
  )
  expect(first.output).toMatch(/^✗ ClickHouse lacks 001_collection\.sql@\w+, /m)
  expect(first.output).toMatch(/^✗ no service answers at /m)
  expect(await runNextTo(elsewhere, ['migrate'], env)).toMatchObject({ code: 0 })
  const second = await runNextTo(elsewhere, ['doctor'], {
    ...env,
    CLICKHOUSE_URL: 'http://127.0.0.1:9',
  })
  expect(second.output).toContain("✓ PostgreSQL has this version's schema")
  expect(second.output).toMatch(/^✗ ClickHouse cannot be queried: .+$/m)
  expect((await runNextTo(elsewhere, ['doctor'], env)).output).toContain(
    "✓ ClickHouse has this version's schema",
  )
}, 600_000)
