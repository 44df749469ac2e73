import { busy } from '../../api/http/errors.ts'
import { LogUnavailable } from './eventLog.ts'

const retrySeconds = 5

/** Returns the result of `append`, or throws 503 "busy" if the log cannot store rows now. */
export async function toServiceUnavailable<T>(appended: Promise<T>): Promise<T> {
  try {
    return await appended
  } catch (error) {
    if (error instanceof LogUnavailable)
      throw busy('The collector cannot store more events now. Retry later.', retrySeconds)
    throw error
  }
}
