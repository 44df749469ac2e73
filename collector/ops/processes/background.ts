import { type Jobs, startJobs } from '../../platform/jobs/startJobs.ts'
import { openQueues, type QueueDeps } from './queues.ts'

/** The background jobs of a primary whose service answers reads. */
export interface Background {
  /** Resolves when jobs are running. */
  readonly jobs: Promise<Jobs>
  /** Whether the service reports usage to a payment provider. */
  readonly reportsUsage: boolean
  stop(): Promise<void>
}

/** Starts the jobs without delaying workers: the first start creates the jobs' tables. */
export async function startBackground(
  services: QueueDeps,
  postgresUrl: string,
): Promise<Background> {
  const { postgres, log } = services
  const { queues, reportsUsage, close } = await openQueues(services)
  const jobs = startJobs({ postgres, postgresUrl, queues, log })
  // The caller awaits `jobs` later.
  jobs.catch(() => {})
  return {
    jobs,
    reportsUsage,
    async stop() {
      await (await jobs).stop()
      await close()
    },
  }
}
