/** The faults that `npx footfall-server doctor` finds, each with its sentence. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { readConfig } from '../../collector/config.ts'
import {
  examineClickHouse,
  examineSnapshots,
  examineSystemLogs,
} from '../../collector/ops/doctor/checkClickHouse.ts'
import { examineLog } from '../../collector/ops/doctor/checkLog.ts'
import { examineMail } from '../../collector/ops/doctor/checkMail.ts'
import { askAll } from '../../collector/ops/doctor/finding.ts'
import { examineFiles, examineMachine } from '../../collector/ops/doctor/machine.ts'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { retireCollector } from '../../collector/platform/collectors.ts'
import { lackOfDescriptors } from '../../collector/platform/descriptors.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../harness/databases.ts'
import { startS3 } from '../harness/s3.ts'
import { waitFor } from '../harness/service.ts'
import { startShards } from '../harness/shards.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-doctor-'))
  return () => rmSync(directory, { recursive: true, force: true })
})

/** A server that accepts connections and answers nothing. */
async function silentServer(): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const logIn = (url: string) => ({
  servers: [url],
  prefix: 'footfall',
  replicas: 1,
  whenAway: 'spool' as const,
})

test('a server that never answers is named, and does not stop the other checks', async () => {
  expect(await askAll('NATS', 'NATS_URL', () => new Promise(() => {}), 20)).toEqual([
    {
      ok: false,
      text: 'NATS cannot be queried: no answer within 20 ms. To fix it, check that the server runs, that a firewall lets the connection through, and that NATS_URL has its address',
    },
  ])
  const port = await silentServer()
  expect(await examineLog(logIn(`nats://127.0.0.1:${port}`), null)).toEqual([
    {
      ok: false,
      text: expect.stringMatching(
        /^NATS refuses or does not answer: .+: check the addresses in NATS_URL and the servers$/,
      ),
    },
  ])
})

test('a wrong password of NATS is named as one; without PostgreSQL, NATS is still in order', async () => {
  const port = await freePort()
  const configuration = join(directory, 'nats.conf')
  writeFileSync(
    configuration,
    `host: 127.0.0.1\nport: ${port}\njetstream { store_dir: "${join(directory, 'nats')}" }
authorization { user: footfall, password: right }\n`,
  )
  const nats = spawn('nats-server', ['-c', configuration], { stdio: 'ignore' })
  onTestFinished(() => void nats.kill('SIGKILL'))
  const examine = (password: string) =>
    examineLog(logIn(`nats://footfall:${password}@127.0.0.1:${port}`), null)
  const right = await waitFor('NATS', async () => {
    const found = await examine('right')
    return found[0]!.ok ? found : null
  })
  expect(right.map(({ text }) => text)).toEqual([
    'NATS answers',
    expect.stringMatching(/^\d+ streams: start a collector, which creates /),
    'all streams have their replicas',
  ])
  const [wrong, ...others] = await examine('wrong')
  expect(others).toEqual([])
  expect(wrong).toEqual({
    ok: false,
    text: expect.stringMatching(
      /^NATS refuses or does not answer: .*Authorization.*: check the user and the password in NATS_URL$/i,
    ),
  })
  expect(JSON.stringify(wrong)).not.toContain('wrong@')
})

test('all missing grants of ClickHouse are named at once', async () => {
  const shards = await startShards(directory, 1, {
    grants: [
      'GRANT ALL ON footfall.*',
      'GRANT NAMED COLLECTION ADMIN ON footfall_login',
      'GRANT SELECT ON system.*',
      'GRANT READ ON REMOTE',
    ],
  })
  onTestFinished(() => shards.stop())
  const found = await examineClickHouse(shards.servers[0]!.url, 'footfall')
  expect(found).toContainEqual({
    ok: false,
    text: 'the login has the required rights in ClickHouse: missing: GRANT ALL ON footfall_test.*; GRANT NAMED COLLECTION ADMIN ON footfall_test_login; GRANT TABLE ENGINE ON *; GRANT SYSTEM RELOAD DICTIONARY ON *.*',
  })
  expect(await examineClickHouse(inject('clickhouseUrl'), 'footfall')).toContainEqual({
    ok: true,
    text: 'the login has the required rights in ClickHouse',
  })
})

test('system logs that are larger than the events are named', async () => {
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const run = (sql: string) => clickhouse.command({ sql, params: {} })
  await run('CREATE TABLE system.doctor_log (n UInt64) ENGINE = MergeTree ORDER BY n')
  onTestFinished(async () => {
    await run('DROP TABLE system.doctor_log SYNC')
    await clickhouse.close()
  })
  await run('INSERT INTO system.doctor_log SELECT rand64() FROM numbers(100000)')
  const examine = (bytesMax?: number) =>
    examineSystemLogs(clickhouse, 'ClickHouse', database, bytesMax)
  expect(await examine()).toEqual({
    ok: true,
    text: 'the system logs of ClickHouse have 0.0 GiB, and its events 0.0 GiB',
  })
  expect(await examine(0)).toEqual({
    ok: false,
    text: expect.stringMatching(/: limit the logs with examples\/deploy\/clickhouse\/system-logs/),
  })
})

test('the examples keep queries for seven days and no other log, and a server with 2 GB migrates', async () => {
  const place = join(directory, 'small')
  mkdirSync(join(place, 'config.d'), { recursive: true })
  mkdirSync(join(place, 'users.d'))
  const logs = ['query_log', 'metric_log', 'trace_log', 'text_log', 'part_log']
  writeFileSync(
    join(place, 'config.d/default.xml'),
    `<clickhouse>${logs.map((log) => `<${log}><database>system</database><table>${log}</table></${log}>`).join('')}</clickhouse>`,
  )
  for (const [name, folder] of [
    ['system-logs', 'config.d'],
    ['small', 'config.d'],
    ['small-users', 'users.d'],
  ])
    cpSync(
      join(packageRoot, `examples/deploy/clickhouse/${name}.xml`),
      join(place, folder!, `z-${name}.xml`),
    )
  const server = await startLocalClickHouse(place, () => {})
  const clickhouse = openClickHouse(server.url, 'footfall')
  onTestFinished(async () => {
    await clickhouse.close()
    await server.stop()
  })
  await migrateClickHouse(server.url, 'footfall')
  await clickhouse.command({ sql: 'SYSTEM FLUSH LOGS', params: {} })
  const tables = await clickhouse.rows<{ name: string; engine_full: string }>({
    sql: "SELECT name, engine_full FROM system.tables WHERE database = 'system' AND endsWith(name, '_log')",
    params: {},
  })
  expect(tables).toEqual([
    {
      name: 'query_log',
      engine_full: expect.stringContaining('TTL event_date + toIntervalDay(7)'),
    },
  ])
  const [limits] = await clickhouse.rows({
    sql: `SELECT (SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage') AS server,
            getSetting('max_memory_usage') AS query`,
    params: {},
  })
  expect(limits).toEqual({ server: String(1024 ** 3), query: 512 * 1024 ** 2 })
})

test('a bucket that is missing, or that refuses the key, is named with its settings', async () => {
  const s3 = await startS3(join(directory, 's3'), 'files')
  onTestFinished(() => s3.close())
  const examine = (bucket: string, key: string) =>
    examineFiles(
      readConfig({
        FOOTFALL_S3_BUCKET: bucket,
        FOOTFALL_S3_ENDPOINT: s3.endpoint,
        FOOTFALL_S3_ACCESS_KEY_ID: key,
        FOOTFALL_S3_SECRET_ACCESS_KEY: 'S3RVER',
      }),
    )
  const name = (bucket: string) => `the bucket ${bucket} at ${s3.endpoint} (FOOTFALL_S3_*)`
  expect(await examine('files', 'S3RVER')).toEqual([
    { ok: true, text: `${name('files')} can be written, read and deleted` },
  ])
  for (const [bucket, key, code] of [
    ['missing', 'S3RVER', 'NoSuchBucket'],
    ['files', 'unknown', 'InvalidAccessKeyId'],
  ] as const) {
    const [finding] = await examine(bucket, key)
    expect(finding).toMatchObject({ ok: false })
    expect(finding!.text).toContain(`${name(bucket)} does not let Footfall write: ${code}`)
    expect(finding!.text).toMatch(/Check the bucket, the key and its policy$/)
  }
})

test('faults of the settings and of the machine are named', async () => {
  const env = {
    FOOTFALL_DATA_DIR: directory,
    PORT: String(await freePort()),
    FOOTFALL_ROLE: 'api',
    FOOTFALL_WORKER: '2',
    CLICKHOUSE_SHARD: 'http://a',
    NATS_URLS: 'nats://a',
    DATABASE_URI: 'postgres://a',
    DATABASE_URL: 'postgres://a/b',
    FOOTFALL_PUBLIC_URL: 'http://stats.example',
    FOOTFALL_CONNECTIONS_MAX: '1000000',
  }
  const found = await examineMachine(readConfig(env))
  const faults = found.filter(({ ok }) => !ok).map(({ text }) => text)
  for (const start of [
    'CLICKHOUSE_SHARD is not a setting of Footfall: check its spelling',
    'DATABASE_URI is not a setting',
    'FOOTFALL_WORKER is not a setting',
    'NATS_URLS is not a setting',
    'FOOTFALL_S3_BUCKET is not set: other machines cannot read the files',
    'FOOTFALL_SECRET_KEY is not set: integrations and webhooks cannot store secrets',
    'FOOTFALL_PUBLIC_URL is http://stats.example: passwords and keys cross the network in clear text',
    'FOOTFALL_COLLECTOR_URL is http://stats.example: pages with https load nothing from http',
    'no service answers at http://127.0.0.1:',
    ...(process.platform === 'linux' ? ['there are too few descriptors: a process may open '] : []),
  ])
    expect(faults, start).toContainEqual(expect.stringContaining(start))
  const missing = await examineMachine(readConfig({ ...env, FOOTFALL_DATA_DIR: '/nowhere' }))
  expect(missing).toContainEqual({
    ok: false,
    text: expect.stringMatching(/^FOOTFALL_DATA_DIR cannot be written to: ENOENT/),
  })
  expect(lackOfDescriptors(10_000, 1_024)).toBe(
    'a process may open 1024 files, so each worker accepts 768 connections instead of 10000 (FOOTFALL_CONNECTIONS_MAX). Raise the limit to 10256 (LimitNOFILE of systemd, ulimit -n), or lower the setting',
  )
  expect(lackOfDescriptors(10_000, 65_536)).toBeNull()
})

/** A server that answers every request with this text. */
async function textServer(text: string, status = 200): Promise<number> {
  const server = createHttpServer((_, response) => void response.writeHead(status).end(text))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('a fault of a server has a remedy, and its setting', async () => {
  const port = await freePort()
  const faultsOf = async (found: Promise<{ ok: boolean; text: string }[]>) =>
    (await found).filter(({ ok }) => !ok).map(({ text }) => text)
  const s3 = (endpoint: string) => ({
    FOOTFALL_S3_BUCKET: 'files',
    FOOTFALL_S3_ENDPOINT: endpoint,
    FOOTFALL_S3_ACCESS_KEY_ID: 'key',
    FOOTFALL_S3_SECRET_ACCESS_KEY: 'secret',
  })
  const wrongPassword = new URL(inject('postgresUrl'))
  wrongPassword.password = 'wrong'
  for (const [found, fault] of [
    [
      examineClickHouse(`http://127.0.0.1:${port}`, 'footfall'),
      /^ClickHouse cannot be queried: connect ECONNREFUSED .*To fix it, start the server, or correct the host and port in CLICKHOUSE_URL$/,
    ],
    [
      examineClickHouse('http://nowhere.invalid:8123', 'footfall'),
      /^ClickHouse cannot be queried: .*correct the host in CLICKHOUSE_URL, or the name service of this machine$/,
    ],
    [
      examineClickHouse(`http://127.0.0.1:${await textServer('<html>\n<p>no', 501)}`, 'footfall'),
      /^ClickHouse cannot be queried: the answer is a web page. To fix it, correct the port in CLICKHOUSE_URL: another program answers there$/,
    ],
    [
      examineFiles(readConfig(s3(`http://127.0.0.1:${port}`))),
      /\(FOOTFALL_S3_\*\) cannot be queried: .*correct the host and port in FOOTFALL_S3_ENDPOINT$/,
    ],
    [
      examineMail(readConfig({ SMTP_URL: `smtp://127.0.0.1:${port}` })),
      /^the mail server cannot be queried: .*correct the host and port in SMTP_URL$/,
    ],
    [
      askAll('PostgreSQL', 'DATABASE_URL', async () => {
        const pool = openPostgres(wrongPassword.href, () => {})
        try {
          await pool.query('SELECT 1')
          return []
        } finally {
          await pool.end()
        }
      }),
      /^PostgreSQL cannot be queried: password .*To fix it, correct the user and the password in DATABASE_URL$/,
    ],
  ] as const)
    expect(await faultsOf(found)).toEqual([expect.stringMatching(fault)])
})

test('another program on the port, a file as data directory and an invalid IP database are named', async () => {
  const file = join(directory, 'file')
  writeFileSync(file, 'not a database')
  const texts = async (env: Record<string, string>) =>
    (await examineMachine(readConfig({ FOOTFALL_DATA_DIR: directory, ...env })))
      .filter(({ ok }) => !ok)
      .map(({ text }) => text)
  const port = await textServer('<html>')
  expect(await texts({ PORT: String(port) })).toContain(
    `another program answers at http://127.0.0.1:${port}/readyz: set PORT to a free port, or stop the other program`,
  )
  expect(await texts({ FOOTFALL_DATA_DIR: file })).toContain(
    `FOOTFALL_DATA_DIR cannot be written to: ${file} is not a directory. Set the directory that the service uses`,
  )
  expect(await texts({ FOOTFALL_IP_DATABASE: file })).toContainEqual(
    expect.stringMatching(
      /^the locations of visitors: FOOTFALL_IP_DATABASE .*Set the path of a \.mmdb file, or remove the setting$/,
    ),
  )
  expect(() => readConfig({ FOOTFALL_TRUSTED_PROXIES: '10.0.0.1,10.0.0.0/99' })).toThrow(
    'FOOTFALL_TRUSTED_PROXIES must be addresses and CIDR ranges with commas between, such as 10.0.0.18 or 10.0.0.0/24, not "10.0.0.0/99"',
  )
})

test('a collector is retired a minute after it stopped; an unknown one and a running one have errors of their own', async () => {
  const postgres = openPostgres(await newPostgresDatabase(), () => {})
  onTestFinished(() => postgres.end())
  const [running, gone] = [randomUUID(), randomUUID()]
  await postgres.query(
    `INSERT INTO collectors (collector_id, hostname, complete_until_ms, reported_at)
     VALUES ($1, 'a', 0, now()), ($2, 'b', 0, now() - interval '2 minutes')`,
    [running, gone],
  )
  await expect(retireCollector(postgres, running)).rejects.toThrow(
    `collector ${running} reported within the last minute: stop it`,
  )
  await retireCollector(postgres, gone)
  await expect(retireCollector(postgres, gone)).rejects.toThrow(
    `there is no collector ${gone}: npx footfall-server collectors list shows the ids`,
  )
})

test('the snapshots of a killed backup are named, but not those of one that runs', async () => {
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  onTestFinished(() => clickhouse.close())
  const examine = (olderThanSeconds?: number) =>
    examineSnapshots(clickhouse, 'ClickHouse', database, olderThanSeconds)
  expect(await examine(0)).toEqual([])
  await clickhouse.command({ sql: 'CREATE TABLE backup_events AS events', params: {} })
  expect(await examine()).toEqual([])
  expect(await examine(0)).toEqual([
    {
      ok: false,
      text: expect.stringMatching(
        /^1 snapshot of an interrupted backup of 20\d\d-\d\d-\d\d in ClickHouse: .*npx footfall-server backup removes them$/,
      ),
    },
  ])
})
