import { busy } from '../../api/http/errors.ts'
import { SpoolUnavailable } from './spool.ts'

const retrySeconds = 5

/** What was appended, or 503 "busy" when the spool can keep nothing now. */
export async function toServiceUnavailable<T>(appended: Promise<T>): Promise<T> {
  try {
    return await appended
  } catch (error) {
    if (error instanceof SpoolUnavailable)
      throw busy('The collector cannot store more events now. Retry later.', retrySeconds)
    throw error
  }
}
