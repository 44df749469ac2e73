import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { fillSampleDatabase } from './sampleDatabase.ts'
import { ensureSampleRecords } from './sampleRecords.ts'

/** The background jobs of the sandbox: they add past hours, and renew its records. */
export const sandboxQueues = (
  { clickhouse, postgres }: { clickhouse: ClickHouse; postgres: Postgres },
  daysBefore: number,
): Queue[] => [
  {
    name: 'sandbox.fill-sample',
    schedule: '1 * * * *',
    async run() {
      await fillSampleDatabase(clickhouse, new Date(), daysBefore)
      await ensureSampleRecords(postgres)
    },
  },
]
