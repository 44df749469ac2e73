import { ConcurrencyLimiter } from '../../../api/access/concurrencyLimiter.ts'
import { busy } from '../../../api/http/errors.ts'

/** Limits of one organization in one process. Each upload may fill a gigabyte of the disk that all share. */
const limits = { atOnce: 4, waitingMax: 100, waitMs: 30_000 }
const retrySeconds = 10

/** Returns a function that runs an upload of an organization, after earlier ones if there are many. Throws 503 "busy". */
export function createUploadSlots() {
  const limiter = new ConcurrencyLimiter(limits)
  return async <T>(organizationId: string, signal: AbortSignal, work: () => Promise<T>) => {
    if (!(await limiter.enter(organizationId, signal)))
      throw busy('This organization has too many uploads in progress.', retrySeconds)
    try {
      return await work()
    } finally {
      limiter.leave(organizationId)
    }
  }
}
