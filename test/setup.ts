import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { buildAll } from '../collector/launch/build.mjs'
import { startLocalClickHouse } from '../collector/platform/clickhouse/local.ts'
import { openBoss } from '../collector/platform/jobs/jobs.ts'
import { startLocalPostgres } from '../collector/platform/postgres/local.ts'
import { migratePostgres } from '../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../collector/platform/postgres/pool.ts'
import { createPostgresDatabase, migratedDatabase } from './harness/databases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A real ClickHouse for the whole run; make a database of your own in it. */
    clickhouseUrl: string
    /** A real PostgreSQL for the whole run; make a database of your own in it. */
    postgresUrl: string
  }
}

/** Builds what the tests run, and starts both stores once for all of them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await buildAll()
  const directory = mkdtempSync(join(tmpdir(), 'footfall-test-stores-'))
  const onRestart = (reason: string) => console.warn(reason)
  const [clickhouse, postgres] = await Promise.all([
    startLocalClickHouse(join(directory, 'clickhouse'), onRestart),
    startLocalPostgres(join(directory, 'postgres'), onRestart),
  ])
  const template = openPostgres(await createPostgresDatabase(postgres.url, migratedDatabase), () => {})
  await migratePostgres(template)
  const boss = await openBoss(template).start()
  await boss.stop({ graceful: false, close: false })
  await template.end()
  provide('clickhouseUrl', clickhouse.url)
  provide('postgresUrl', postgres.url)
  return async () => {
    await Promise.all([clickhouse.stop(), postgres.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}
