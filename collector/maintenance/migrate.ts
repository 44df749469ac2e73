import type { Config } from '../config.ts'
import { migrateClickHouse } from '../platform/clickhouse/migrate.ts'
import { migratePostgres } from '../platform/postgres/migrate.ts'
import { openPostgres } from '../platform/postgres/pool.ts'
import { withServers } from './servers.ts'

/** `footfall migrate`: what each start does first, for whoever wants it done before any machine starts. */
export const migrate = (config: Config): Promise<void> =>
  withServers(config, async ({ clickhouseUrl, postgresUrl }) => {
    const postgres = openPostgres(postgresUrl, () => {})
    try {
      await migratePostgres(postgres)
    } finally {
      await postgres.end()
    }
    console.log('PostgreSQL has this version’s schema')
    const { clickhouseDatabase } = config
    for (const database of [clickhouseDatabase, `${clickhouseDatabase}_test`])
      await migrateClickHouse(clickhouseUrl, database)
    console.log('ClickHouse has this version’s schema')
  })
