import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Log } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ensureSampleAudiences } from './sampleAudiences.ts'
import { fillSampleDatabase } from './sampleDatabase.ts'
import { ensureSampleExports } from './sampleExports.ts'
import { ensureSampleLists } from './sampleLists.ts'
import { ensureSampleOrganization } from './sampleOrganization.ts'

/**
 * Ensures that the data of test keys exists: their organization, some days of traffic, audiences, a list and
 * exports.
 */
export async function ensureSandbox(
  {
    postgres,
    test,
    uploads,
    log,
  }: { postgres: Postgres; test: ClickHouse; uploads: Uploads; log: Log },
  sampleDays: number,
): Promise<void> {
  if (sampleDays > 0) {
    await fillSampleDatabase(test, new Date(), sampleDays).catch((error: Error) =>
      log.warn({ error: error.message }, 'could not fill the sample database'),
    )
  }
  await ensureSampleOrganization(postgres)
  if (sampleDays === 0) return
  await ensureSampleAudiences(postgres)
  await ensureSampleLists(postgres, uploads)
  await ensureSampleExports(postgres)
}
