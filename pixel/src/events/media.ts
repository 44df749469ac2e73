import type { CapturedData } from '../../../schemas/captured.ts'
import { parked } from '../consent.ts'
import { steps } from '../element.ts'

/** Records media events. The last reported quarter is stored with the element, for each pixel of a page. */
export const media = (
  { type }: Event,
  path: Element[],
): (() => CapturedData<'play'>) | undefined => {
  const element = path[0] as HTMLVideoElement & Record<string, number>
  const { currentTime, duration, currentSrc, ended } = element
  const quarter = ((4 * currentTime) / duration) | 0
  if (type === 'timeupdate' && (quarter > 3 || quarter <= (element[parked] || 0))) return
  element[parked] = quarter
  // NaN while unknown, Infinity for a live stream: both durations are null in JSON.
  return () => ({ path: steps(element, path), currentTime, duration, currentSrc, ended })
}
