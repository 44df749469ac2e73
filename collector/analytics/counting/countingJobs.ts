import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import { readStaleProjects } from '../rollup/runs.ts'
import { countDays, deleteOldCounts } from './countDays.ts'

const oneProject = 'analytics.count-days-of'

/** The background jobs of figures: they count past days, and count them again when their events change. */
export const analyticsQueues = (clickhouse: ClickHouse): Queue[] => [
  {
    name: 'analytics.count-days',
    schedule: '*/5 * * * *',
    async run({ send }) {
      for (const projectId of await readStaleProjects(clickhouse, Date.now()))
        await send(oneProject, projectId)
    },
  },
  {
    name: oneProject,
    timeoutSeconds: 3_600,
    run: ({ key, signal }) => countDays(clickhouse, key!, { signal }),
  },
  {
    name: 'analytics.delete-old-counts',
    schedule: '40 * * * *',
    run: () => deleteOldCounts(clickhouse),
  },
]
