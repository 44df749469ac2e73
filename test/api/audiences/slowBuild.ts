/**
 * A process that runs one build, slowly. Arguments: the URLs of both stores, ClickHouse's database, the
 * build, and the kind of slowness. "slow": ClickHouse takes 30 seconds to insert the members. Otherwise the
 * process reports the first statement that begins with that text, and sends it a second later. In this second
 * a test can stop the process.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { buildNow } from '../../../collector/audiences/builder/buildNow.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres } from '../../../collector/platform/postgres/pool.ts'
import { slowed } from './slowed.ts'

const [postgresUrl, clickhouseUrl, database, buildId, how] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const postgres = openPostgres(postgresUrl, () => {})
const clickhouse = openClickHouse(clickhouseUrl, database)
const stalling = {
  ...clickhouse,
  async command(query: Parameters<typeof clickhouse.command>[0]) {
    if (query.sql.startsWith(how)) {
      console.log('about to send')
      await delay(1_000)
    }
    await clickhouse.command(query)
  },
}
const live = how === 'slow' ? slowed(clickhouse, 30) : stalling
await buildNow({ postgres, clickhouse: { live, test: live } }, buildId).then(
  () => console.log('built'),
  (error: Error) => console.log(`failed: ${error.name} ${error.message}`),
)
await Promise.all([postgres.end(), clickhouse.close()])
