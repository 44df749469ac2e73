/** Installations as the replaced migrations made them: the files of commit bb76fd97, without their comments. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import type { ClickHouseAddress } from '../../../collector/platform/clickhouse/cluster.ts'
import { statementsFor } from '../../../collector/platform/clickhouse/migrate.ts'
import { packageRoot } from '../../../collector/platform/paths.ts'
import type { Postgres } from '../../../collector/platform/postgres/pool.ts'

interface Migration {
  readonly name: string
  readonly sql: string
}

/** The replaced migrations of a store, in order. */
function replacedMigrations(store: 'postgres' | 'clickhouse'): Migration[] {
  const file = join(packageRoot, `test/stores/replaced/${store}.sql`)
  return readFileSync(file, 'utf8')
    .split(/^(?=-- \d\w+\.sql$)/m)
    .map((sql) => ({ name: /^-- (\S+)/.exec(sql)![1]!, sql }))
}

/** Runs and records those of the replaced migrations that `isMeant` selects, in an empty database. */
export async function installPostgres(
  postgres: Postgres,
  isMeant: (name: string) => boolean = () => true,
): Promise<string[]> {
  await postgres.query(
    'CREATE TABLE migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  )
  const meant = replacedMigrations('postgres').filter(({ name }) => isMeant(name))
  for (const { name, sql } of meant) {
    await postgres.query(sql)
    await postgres.query('INSERT INTO migrations (name) VALUES ($1)', [name])
  }
  return meant.map(({ name }) => name)
}

/** The same on one server of ClickHouse. */
export async function installClickHouse(
  clickhouse: ClickHouse,
  address: ClickHouseAddress,
  shard: number,
): Promise<void> {
  const run = (sql: string) => clickhouse.command({ sql, params: {} })
  await run(
    'CREATE TABLE migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name',
  )
  for (const { name, statements } of replacedStatements(address, shard)) {
    for (const sql of statements) await run(sql)
    await run(`INSERT INTO migrations (name) VALUES ('${name}')`)
  }
}

/** The statements of ClickHouse's replaced migrations for a shard. */
export const replacedStatements = (address: ClickHouseAddress, shard: number) =>
  replacedMigrations('clickhouse').map(({ name, sql }) => ({
    name,
    statements: statementsFor(sql, address, shard, () => name.replace(/\.sql$/, '')),
  }))
