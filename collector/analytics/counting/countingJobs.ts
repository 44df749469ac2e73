import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readProjectZone } from '../projectZone.ts'
import { readStaleProjects } from '../rollup/runs.ts'
import { countDays, deleteOldCounts } from './countDays.ts'
import { noteCountedZone, readMovedProjects } from './countedZones.ts'

const oneProject = 'analytics.count-days-of'

/**
 * A count of many days ends after this time, and the schedule soon begins the next one. It takes newer days first, and
 * those of other projects in between, while a year of imported events is counted.
 */
const countingMs = 14 * 60_000

interface CountingDeps {
  readonly clickhouse: ClickHouse
  readonly postgres: Postgres
}

/**
 * The background jobs of figures: they count complete days, and count them again when their events or zone
 * change.
 */
export const analyticsQueues = ({ clickhouse, postgres }: CountingDeps): Queue[] => [
  {
    name: 'analytics.count-days',
    schedule: '*/5 * * * *',
    async run({ send }) {
      const [stale, moved] = await Promise.all([
        readStaleProjects(clickhouse, Date.now()),
        readMovedProjects(postgres),
      ])
      for (const projectId of new Set([...stale, ...moved])) await send(oneProject, projectId)
    },
  },
  {
    name: oneProject,
    timeoutSeconds: 3_600,
    async run({ key, signal: stopped }) {
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(countingMs)])
      const zone = await readProjectZone(postgres, key!)
      await countDays(clickhouse, key!, { signal, zone })
      if (!signal.aborted) await noteCountedZone(postgres, key!, zone)
    },
  },
  {
    name: 'analytics.delete-old-counts',
    schedule: '40 * * * *',
    run: () => deleteOldCounts(clickhouse),
  },
]
