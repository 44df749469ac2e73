import type { Jobs } from '../../platform/jobs/startJobs.ts'
import { jobsByState } from '../../platform/metrics.ts'

/** Updates the metrics of jobs: the number in each queue and state. */
export async function measureJobs(jobs: Jobs): Promise<void> {
  for (const { queue, state, count } of await jobs.counts())
    jobsByState.set({ queue, state }, count)
}
