import type { Job } from '../../collector/platform/jobs/queue.ts'

/** A run of a queue, as background jobs start it; other jobs that it sends are not run. */
export const jobOf = (key: string | null, isLastTry = false): Job => ({
  key,
  isLastTry,
  signal: AbortSignal.timeout(60_000),
  stopping: new AbortController().signal,
  send: async () => {},
})
