import { type Jobs, startJobs } from '../../platform/jobs/startJobs.ts'
import { openQueues, type QueueDeps } from './queues.ts'

/** The background work of a primary whose service answers reads. */
export interface Background {
  /** Resolves when jobs run. */
  readonly jobs: Promise<Jobs>
  /** Whether what is used is reported to a payment provider. */
  readonly reportsUsage: boolean
  stop(): Promise<void>
}

/** Begins to run jobs. The first start creates their tables, and workers need not wait for that. */
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
