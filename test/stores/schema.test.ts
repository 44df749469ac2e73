import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { randomName } from '../harness/databases.ts'

const organization = '00000000-0000-0000-0000-000000000001'
const cookie = '00000000-0000-0000-0000-000000000002'
const hem = 'ab'.repeat(32)
const dictionaries = [
  'identity_by_cookie',
  'identity_by_cookie_lately',
  'profile_by_hem',
  'company_by_network',
]

async function openDatabase(url: string, database: string) {
  const clickhouse = openClickHouse(url, database)
  onTestFinished(() => clickhouse.close())
  return { clickhouse, run: (sql: string) => clickhouse.command({ sql, params: {} }) }
}

/** An event of a cookie whose person is known, with a profile and a company. */
async function storePerson(run: (sql: string) => Promise<void>): Promise<void> {
  await run(`INSERT INTO identity_links (organization_id, cookie_id, hem, source, observed_at)
    VALUES ('${organization}', '${cookie}', '${hem}', 'signed', now64(3))`)
  await run(`INSERT INTO profiles (hem, first_name) VALUES ('${hem}', 'Ann')`)
  await run(
    "INSERT INTO company_networks (network, company_domain) VALUES ('192.0.2.0/24', 'a.example')",
  )
  await run(
    `INSERT INTO events (organization_id, cookie_id) VALUES ('${organization}', '${cookie}')`,
  )
}

/** What all four dictionaries say of that person. */
const readPerson = async (clickhouse: ClickHouse) => {
  const [row] = await clickhouse.rows({
    sql: `SELECT hem, resolved,
            position(dictGet('profile_by_hem', 'profile', reinterpretAsUInt64(unhex(substring(hem, 1, 16)))), 'Ann') > 0 AS is_known,
            dictGet('company_by_network', 'company_domain', tuple(toIPv6('192.0.2.7'))) AS company
          FROM events`,
    params: {},
  })
  return row
}
const person = { hem, resolved: true, is_known: 1, company: 'a.example' }

test('a second start changes nothing in the schema', async () => {
  const sent: string[] = []
  const proxy = createServer(async (incoming, answer) => {
    const body = await text(incoming)
    sent.push(body)
    const { hostname, port } = new URL(inject('clickhouseUrl'))
    const { method, headers, url: path } = incoming
    request({ hostname, port, method, headers, path }, (real) => {
      answer.writeHead(real.statusCode!, real.headers)
      real.pipe(answer)
    }).end(body)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const url = new URL(inject('clickhouseUrl'))
  url.port = String((proxy.address() as AddressInfo).port)
  const database = randomName()

  const changes = () =>
    sent
      .splice(0)
      .filter(
        (sql) => /^\s*(?!SELECT)\w/i.test(sql) && !/^\w+ (DATABASE|TABLE) IF NOT EXISTS/.test(sql),
      )
      .map((sql) => sql.split(/\s+/).slice(0, 3).join(' '))
  await migrateClickHouse(url.href, database)
  expect(changes().length).toBeGreaterThan(20)
  await migrateClickHouse(url.href, database)
  // The login of the dictionaries, which is no part of the database, is written at each start.
  expect(changes()).toEqual(['CREATE NAMED COLLECTION', 'ALTER NAMED COLLECTION'])
})

test('views, dictionaries and computed columns that are other than they should be are replaced', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const { clickhouse, run } = await openDatabase(inject('clickhouseUrl'), database)
  const definitions = () =>
    clickhouse.rows({
      sql: `SELECT name, create_table_query FROM system.tables
            WHERE database = currentDatabase() AND NOT startsWith(name, '.inner') ORDER BY name`,
      params: {},
    })
  const right = await definitions()
  await run(
    'CREATE OR REPLACE VIEW hidden_cookies AS SELECT organization_id, cookie_id FROM opt_outs',
  )
  await run(`CREATE OR REPLACE DICTIONARY company_by_network (network String, company_domain String)
    PRIMARY KEY network SOURCE(NULL()) LAYOUT(IP_TRIE) LIFETIME(0)`)
  await run('ALTER TABLE events MODIFY COLUMN resolved Nullable(Bool) ALIAS false')
  await run('DROP VIEW profile_rows_from_profiles')
  await run(`CREATE MATERIALIZED VIEW profile_rows_from_profiles TO profile_rows AS
    SELECT 1 AS hem_key, 2 AS hem_number, 'a' AS pte, 'b' AS profile, now64(3) AS updated_at FROM profiles`)
  expect(await definitions()).not.toEqual(right)
  await migrateClickHouse(inject('clickhouseUrl'), database)
  expect(await definitions()).toEqual(right)
})

test('after ClickHouse’s password changed, reads and dictionaries work from the next start on, and no definition holds it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-password-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const passwordFile = join(directory, 'password')
  const begin = () => startLocalClickHouse(directory, (reason) => expect.unreachable(reason))
  const database = randomName()

  let server = await begin()
  const passwords = [new URL(server.url).password]
  try {
    await migrateClickHouse(server.url, database)
    const first = await openDatabase(server.url, database)
    await storePerson(first.run)
    await first.run('SYSTEM RELOAD DICTIONARY identity_by_cookie')
    expect(await readPerson(first.clickhouse)).toEqual(person)
    await server.stop()

    writeFileSync(passwordFile, 'f'.repeat(passwords[0]!.length))
    server = await begin()
    passwords.push(new URL(server.url).password)
    expect(passwords[1]).not.toBe(passwords[0])
    const second = await openDatabase(server.url, database)
    await expect(readPerson(second.clickhouse)).rejects.toThrow(/Authentication failed/)
    await migrateClickHouse(server.url, database)
    expect(await readPerson(second.clickhouse)).toEqual(person)
    for (const name of dictionaries) await second.run(`SYSTEM RELOAD DICTIONARY ${name}`)

    const shown = await second.clickhouse.rows<{ create_table_query: string }>({
      sql: 'SELECT create_table_query FROM system.tables WHERE database = currentDatabase()',
      params: {},
    })
    for (const { create_table_query } of shown) expect(create_table_query).not.toMatch(/password/i)
  } finally {
    await server.stop()
  }
  // What backups of the database hold: its definitions as they lie on disk.
  const held = readdirSync(join(directory, 'data'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql') && !path.startsWith('named_collections'))
    .map((path) => join(directory, 'data', path))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
  expect(held.length).toBeGreaterThan(10)
  for (const sql of held) for (const password of passwords) expect(sql).not.toContain(password)
})
