import type { Jobs } from '../../platform/jobs/startJobs.ts'
import { jobsByState } from '../../platform/metrics.ts'

/** Has /metrics say how many jobs of each queue are in each state. */
export async function measureJobs(jobs: Jobs): Promise<void> {
  for (const { queue, state, count } of await jobs.counts())
    jobsByState.set({ queue, state }, count)
}
