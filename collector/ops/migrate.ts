import type { Config } from '../config.ts'
import { migrateDatabases } from '../platform/clickhouse/migrateDatabases.ts'
import { forgetShardSet } from '../platform/clickhouse/shardSet.ts'
import { migratePostgres } from '../platform/postgres/migrate.ts'
import { openPostgres } from '../platform/postgres/pool.ts'
import { requireSession } from '../platform/postgres/requireSession.ts'
import { refuseHalfRestoredStores } from '../platform/restoreMark.ts'
import { backUpBeforeMigration } from './backup/upgradeBackup.ts'
import { withServers } from './servers.ts'

/**
 * Runs `footfall-server migrate`, the first step of each start, as a separate command. With `acceptShards` it
 * records the configured shards as the shards with events, replacing earlier ones.
 */
export const migrate = (
  config: Config,
  { acceptShards = false, backup = true } = {},
): Promise<void> =>
  withServers(config, async ({ clickhouse, postgresUrl }) => {
    const postgres = openPostgres(postgresUrl, () => {})
    try {
      await requireSession(postgres, postgresUrl)
      await refuseHalfRestoredStores(postgres)
      if (backup)
        await backUpBeforeMigration(config, { postgres, address: clickhouse }, (text) =>
          console.log(text),
        )
      await migratePostgres(postgres)
      console.log('PostgreSQL has this version’s schema')
      const { clickhouseDatabase: database } = config
      if (acceptShards) await forgetShardSet(postgres, database)
      await migrateDatabases(clickhouse, database, postgres, (servers) =>
        console.warn(`${servers.join(', ')} of ClickHouse cannot be reached and is not migrated`),
      )
      console.log('ClickHouse has this version’s schema')
    } finally {
      await postgres.end()
    }
  })
