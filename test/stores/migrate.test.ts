import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { companyFields, eventColumns, type Field, profileFields } from '../../schemas/fields.ts'
import { newEmptyPostgresDatabase, randomName } from '../harness/databases.ts'

test('ClickHouse migrations run twice, and by two processes at once', async () => {
  const database = randomName()
  await Promise.all([1, 2, 3].map(() => migrateClickHouse(inject('clickhouseUrl'), database)))
  await migrateClickHouse(inject('clickhouseUrl'), database)
})

const columnsOf = (clickhouse: ClickHouse, table: string) =>
  clickhouse.rows<{ name: string; type: string; default_kind: string }>({
    sql: `SELECT name, type, default_kind FROM system.columns
          WHERE database = currentDatabase() AND table = {table:String}`,
    params: { table },
  })

test.each([
  ['events', eventColumns, ['organization_id', 'spool_id', 'seq']],
  ['profiles', profileFields, ['hem', 'updated_at']],
  ['companies', companyFields, ['updated_at']],
])(
  'the table %s has the columns of the field table, with their types',
  async (table, fields, internal) => {
    const database = randomName()
    await migrateClickHouse(inject('clickhouseUrl'), database)
    const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
    const columns = await columnsOf(clickhouse, table)
    // A company has its domain: it is its key.
    const typeOf = ({ name, columnType }: Field) =>
      table === 'companies' && name === 'company_domain'
        ? 'String'
        : columnType.replace(/ (CODEC|DEFAULT).*/, '')
    expect(
      columns
        .filter(({ name }) => !internal.includes(name))
        .map(({ name, type }) => `${name} ${type}`)
        .sort(),
    ).toEqual(fields.map((field) => `${field.name} ${typeOf(field)}`).sort())
    expect(
      columns.filter(({ default_kind }) => default_kind === 'ALIAS').map(({ name }) => name),
    ).toEqual(fields.filter(({ alias }) => alias).map(({ name }) => name))
    await clickhouse.close()
  },
)

test('a field that the table lacks is added at the next start', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.command({ sql: 'ALTER TABLE events DROP COLUMN os_version', params: {} })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.rows({ sql: 'SELECT os_version FROM events', params: {} })
  await clickhouse.close()
})

test('of events that an older release stored, what is computed is read as of new ones, the rest is null', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  for (const name of ['utm_source', 'referrer_host', 'country', 'screen_width'])
    await clickhouse.command({ sql: `ALTER TABLE events DROP COLUMN ${name}`, params: {} })
  await clickhouse.command({
    sql: `INSERT INTO events (page_url, referrer_url) VALUES ('https://a.example/?utm_source=b', 'https://C.example/d')`,
    params: {},
  })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  expect(
    await clickhouse.rows({
      sql: 'SELECT utm_source, referrer_host, country, screen_width FROM events',
      params: {},
    }),
  ).toEqual([{ utm_source: 'b', referrer_host: 'c.example', country: null, screen_width: null }])
  await clickhouse.close()
})

test('empty texts that an older release stored for what nobody knew are null', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const run = (sql: string) =>
    clickhouse.command({ sql: `${sql} SETTINGS mutations_sync = 1`, params: {} })
  const wereTexts = ['user_agent', 'client_ip', 'page_url', 'page_host', 'page_path', 'device_type']
  for (const name of wereTexts)
    await run(`ALTER TABLE events MODIFY COLUMN ${name} String DEFAULT ''`)
  await clickhouse.command({
    sql: `INSERT INTO events (user_agent, page_url) VALUES ('', ''), ('Test/1.0', 'https://a.example/')`,
    params: {},
  })
  await run("ALTER TABLE migrations DELETE WHERE name = '011_unknown_is_null.sql'")
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const rows = () =>
    clickhouse.rows({
      sql: 'SELECT user_agent, client_ip, page_url, page_host, device_type FROM events ORDER BY page_url',
      params: {},
    })
  const unknown = { client_ip: null, page_host: null, device_type: null }
  const expected = [
    { user_agent: 'Test/1.0', page_url: 'https://a.example/', ...unknown },
    { user_agent: null, page_url: null, ...unknown },
  ]
  await expect.poll(rows, { timeout: 20_000 }).toEqual(expected)
  await clickhouse.close()
})

test('the language of profiles that an older release stored is their home_language', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const run = (sql: string) => clickhouse.command({ sql, params: {} })
  await run('DROP VIEW profile_rows_from_profiles')
  await run('ALTER TABLE profiles RENAME COLUMN home_language TO language')
  await run(`INSERT INTO profiles (hem, language) VALUES ('${'ab'.repeat(32)}', 'cy')`)
  await run(
    "ALTER TABLE migrations DELETE WHERE name = '010_home_language.sql' SETTINGS mutations_sync = 1",
  )
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const [row] = await clickhouse.rows<{ profile: string }>({
    sql: 'SELECT profile FROM profile_rows FINAL',
    params: {},
  })
  expect(row!.profile).toContain('"home_language":"cy"')
  await clickhouse.close()
})

test('a computed column whose expression is another now is mended at the next start', async () => {
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const resolved = async () =>
    (
      await clickhouse.rows<{ expression: string; modified: string }>({
        sql: `SELECT default_expression AS expression FROM system.columns
              WHERE database = currentDatabase() AND table = 'events' AND name = 'resolved'`,
        params: {},
      })
    )[0]!.expression
  const right = await resolved()
  await clickhouse.command({
    sql: 'ALTER TABLE events MODIFY COLUMN resolved Nullable(Bool) ALIAS false',
    params: {},
  })
  await migrateClickHouse(inject('clickhouseUrl'), database)
  expect(await resolved()).toBe(right)
  await clickhouse.close()
})

test('links that a release before kept are links still, however often they are brought over', async () => {
  const url = inject('clickhouseUrl')
  const database = randomName()
  const server = openClickHouse(url, 'default')
  await server.command({ sql: `CREATE DATABASE ${database}`, params: {} })
  await server.close()
  const clickhouse = openClickHouse(url, database)
  const run = (sql: string) => clickhouse.command({ sql, params: {} })
  const [organization, cookie, hem] = [randomUUID(), randomUUID(), 'ab'.repeat(32)]

  const table = readFileSync(
    join(packageRoot, 'collector/platform/clickhouse/migrations/003_identity_links.sql'),
    'utf8',
  )
  await run(table.replace('{engine}', '').replace(/;\s*$/, ''))
  const { username, password } = new URL(url)
  await run(`CREATE DICTIONARY identity_by_cookie
    (organization_id UUID, cookie_id UUID, hem String, observed_at DateTime64(3, 'UTC'))
    PRIMARY KEY organization_id, cookie_id
    SOURCE(CLICKHOUSE(TABLE 'identity_links' DB '${database}' USER '${username}' PASSWORD '${password}'
      UPDATE_FIELD observed_at UPDATE_LAG 15))
    LAYOUT(COMPLEX_KEY_HASHED()) LIFETIME(MIN 1 MAX 2)`)
  await run(`CREATE TABLE events
    (organization_id UUID, project_id UUID, ts_millis Int64, event_id UUID, cookie_id UUID,
     event_type String, source String, campaign_id Nullable(String), user_agent String, client_ip String,
     page_url String, page_host String, page_path String, device_type String,
     resolved Nullable(Bool) ALIAS dictHas('identity_by_cookie', (organization_id, cookie_id)))
    ENGINE = MergeTree ORDER BY (project_id, ts_millis, event_id)`)
  await run(`INSERT INTO identity_links (organization_id, cookie_id, hem, observed_at)
    VALUES ('${organization}', '${cookie}', '${hem}', now64(3))`)
  await run(
    `INSERT INTO events (organization_id, cookie_id) VALUES ('${organization}', '${cookie}')`,
  )
  await run('SYSTEM RELOAD DICTIONARY identity_by_cookie')

  for (const times of [1, 2]) {
    await migrateClickHouse(url, database)
    await run(
      "ALTER TABLE migrations DELETE WHERE name = '004_identity.sql' SETTINGS mutations_sync = 1",
    )
    const links = await clickhouse.rows({
      sql: 'SELECT cookie_id, hem, source, confidence FROM identity_links',
      params: {},
    })
    expect(links, `after ${times}`).toEqual([
      { cookie_id: cookie, hem, source: 'identify', confidence: 1 },
    ])
    const events = await clickhouse.rows({ sql: 'SELECT resolved, hem FROM events', params: {} })
    expect(events).toEqual([{ resolved: true, hem }])
  }
  await clickhouse.close()
})

test('PostgreSQL migrations run twice, and by two processes at once', async () => {
  const pool = openPostgres(await newEmptyPostgresDatabase(), () => {})
  await Promise.all([1, 2, 3].map(() => migratePostgres(pool)))
  await migratePostgres(pool)
  const { rows } = await pool.query(
    'SELECT count(*)::int AS times, name FROM migrations GROUP BY name',
  )
  expect(rows.every(({ times }) => times === 1)).toBe(true)
  await pool.end()
})

test('a store that a newer version has migrated is refused, by name, and left as it is', async () => {
  const refusal = (store: string) =>
    `a newer version of Footfall has migrated ${store} (999_future.sql); run that version`
  const database = randomName()
  await migrateClickHouse(inject('clickhouseUrl'), database)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.command({
    sql: "INSERT INTO migrations (name) VALUES ('999_future.sql')",
    params: {},
  })
  await clickhouse.close()
  await expect(migrateClickHouse(inject('clickhouseUrl'), database)).rejects.toThrow(
    refusal('ClickHouse'),
  )

  const postgres = openPostgres(await newEmptyPostgresDatabase(), () => {})
  await migratePostgres(postgres)
  await postgres.query("INSERT INTO migrations (name) VALUES ('999_future.sql')")
  await expect(migratePostgres(postgres)).rejects.toThrow(refusal('PostgreSQL'))
  await postgres.end()
})
