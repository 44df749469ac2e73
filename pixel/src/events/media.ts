import type { NotedData } from '../../../schemas/noted.ts'
import { describe } from '../element.ts'

interface Watched extends HTMLVideoElement {
  /** The last quarter reported. */
  _footfall?: number
}

/** What media elements of the document itself do: media events do not leave shadow roots. */
export const media = ({ type }: Event, path: Element[]): (() => NotedData<'play'>) | undefined => {
  const element = path[0] as Watched
  const { currentTime, duration, currentSrc, ended } = element
  const quarter = ((4 * currentTime) / duration) | 0
  if (type === 'timeupdate' && (quarter > 3 || quarter <= (element._footfall || 0))) return
  element._footfall = quarter
  // NaN while unknown, Infinity for a live stream: both durations are null in JSON.
  return () => ({ element: describe(element, path), currentTime, duration, currentSrc, ended })
}
