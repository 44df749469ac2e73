import { masked } from '../config.ts'
import { describe, find } from '../element.ts'
import { note } from '../queue.ts'

/** The last quarter reported for each video. */
const quarters = new WeakMap<Element, number>()

/** Only what `<video>` elements of the document itself do: media events do not leave shadow roots. */
export const video = ({ type }: Event, path: Element[]): void => {
  const element = path[0] as HTMLVideoElement
  if (element.localName !== 'video') return
  const { currentTime: position, duration, currentSrc: src } = element
  const quarter = ((4 * position) / duration) | 0
  if (type === 'timeupdate' && (quarter > 3 || quarter <= (quarters.get(element) || 0))) return
  // Browsers pause a video that ends, too.
  if (type === 'pause' && element.ended) return
  quarters.set(element, type === 'ended' ? 0 : quarter)
  // NaN while unknown, Infinity for a live stream: both durations are null in JSON.
  note('video', { element: describe(element, !find(path, masked)), src, action: type, position, duration })
}
