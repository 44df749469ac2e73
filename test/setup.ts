import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { readConfig } from '../collector/config.ts'
import { buildStale } from '../collector/ops/launch/build.mjs'
import { openQueues } from '../collector/ops/processes/queues.ts'
import { startLocalClickHouse } from '../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../collector/platform/clickhouse/openClickHouse.ts'
import { declareQueues, openBoss } from '../collector/platform/jobs/startJobs.ts'
import { openLog } from '../collector/platform/log.ts'
import { startLocalPostgres } from '../collector/platform/postgres/local.ts'
import { migratePostgres } from '../collector/platform/postgres/migrate.ts'
import { openStores } from '../collector/platform/stores/openStores.ts'
import { createServices } from '../collector/services.ts'
import { createPostgresDatabase, migratedDatabase } from './harness/databases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A real ClickHouse for the entire run; create your own database in it. */
    clickhouseUrl: string
    /** The statements that make all of our tables in it, in an order that works, for the database `migratedDatabase`. */
    clickhouseTables: string[]
    /** A real PostgreSQL for the entire run; create your own database in it. */
    postgresUrl: string
  }
}

/** Builds what the tests run, and starts both stores once for all of them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await buildStale()
  const directory = mkdtempSync(join(tmpdir(), 'footfall-test-stores-'))
  const onRestart = (reason: string) => console.warn(reason)
  const [clickhouse, postgres] = await Promise.all([
    startLocalClickHouse(join(directory, 'clickhouse'), onRestart, hurried, { serverXml }),
    startLocalPostgres(join(directory, 'postgres'), onRestart),
  ])
  await hurry(postgres.url)
  const [tables] = await Promise.all([
    migratedTables(clickhouse.url),
    migrateTemplate(postgres.url, clickhouse.url, directory),
  ])
  provide('clickhouseUrl', clickhouse.url)
  provide('clickhouseTables', tables)
  provide('postgresUrl', postgres.url)
  return async () => {
    await Promise.all([clickhouse.stop(), postgres.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The stores need not survive a crash of the machine, and queries of a few rows are not worth compiling. */
const hurried = {
  fsync_metadata: 0,
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
}

/**
 * An idle table looks for merges once a second instead of ten times. With many databases, this takes as much time as the
 * queries of a test. A mutation waits for the same timer, so it cannot be longer.
 */
const serverXml = `
  <background_processing_pool_thread_sleep_seconds_if_nothing_to_do>1</background_processing_pool_thread_sleep_seconds_if_nothing_to_do>
  <asynchronous_metrics_update_period_s>600</asynchronous_metrics_update_period_s>
  <memory_worker_period_ms>1000</memory_worker_period_ms>`

/** The same for PostgreSQL, which would also vacuum each of many databases every minute. */
async function hurry(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const setting of [
    'fsync = off',
    'full_page_writes = off',
    'synchronous_commit = off',
    "autovacuum_naptime = '10min'",
  ])
    await client.query(`ALTER SYSTEM SET ${setting}`)
  await client.query('SELECT pg_reload_conf()')
  await client.end()
}

/** Makes the database that others are copies of, with the queues that each service would make when it starts. */
async function migrateTemplate(
  postgresUrl: string,
  clickhouseUrl: string,
  directory: string,
): Promise<void> {
  const config = readConfig({
    LOG_LEVEL: 'silent',
    FOOTFALL_SAMPLE_DAYS: '0',
    FOOTFALL_DATA_DIR: join(directory, 'template'),
    DATABASE_URL: await createPostgresDatabase(postgresUrl, migratedDatabase),
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: migratedDatabase,
  })
  const log = openLog(config)
  const stores = await openStores(config, log)
  await migratePostgres(stores.postgres.pool)
  const boss = await openBoss(stores.postgres.pool).start()
  const services = await createServices(config, stores)
  const background = await openQueues(services)
  await declareQueues(boss, background.queues)
  await background.close()
  await services.close()
  await boss.stop({ graceful: false, close: false })
  await stores.close()
}

/** Migrates a database, and returns the statements that make another one like it. */
async function migratedTables(url: string): Promise<string[]> {
  await migrateClickHouse(url, migratedDatabase)
  const clickhouse = openClickHouse(url, migratedDatabase)
  const tables = await clickhouse.rows<{ statement: string; needs: string[]; name: string }>({
    sql: `SELECT name, create_table_query AS statement,
            arrayFilter(other -> other != name AND position(create_table_query, concat({database:String}, '.', other)) > 0,
              (SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase())) AS needs
          FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
    params: { database: migratedDatabase },
  })
  await clickhouse.close()
  const made = new Set<string>()
  const statements: string[] = []
  while (statements.length < tables.length) {
    const ready = tables.filter(
      ({ name, needs }) => !made.has(name) && needs.every((other) => made.has(other)),
    )
    if (ready.length === 0) throw new Error('tables of ClickHouse that need each other')
    for (const { name, statement } of ready) {
      made.add(name)
      statements.push(statement)
    }
  }
  return statements
}
