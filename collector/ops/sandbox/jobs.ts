import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import { fillSampleDatabase } from './sample.ts'

/** The background work of the sandbox: add the days that come, well within the day that is there in advance. */
export const sandboxQueues = (clickhouse: ClickHouse, daysBefore: number): Queue[] => [
  {
    name: 'sandbox.fill-sample',
    schedule: '30 * * * *',
    run: () => fillSampleDatabase(clickhouse, new Date(), daysBefore),
  },
]
