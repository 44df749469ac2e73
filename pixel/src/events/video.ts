import type { Video } from '../../../schemas/events/video.ts'
import { attribute, closest, ignored } from '../element.ts'
import { listen } from '../guard.ts'
import { capture } from '../queue.ts'

/** The highest threshold reported for each video; forgotten when it ends. */
const reached = new WeakMap<EventTarget, number>()

/** Only what `<video>` elements of the document itself do: media events do not leave shadow roots. */
export const watchVideos = (): void => {
  for (const type of ['play', 'pause', 'timeupdate', 'ended'] as const) {
    listen(type, ({ target }) => {
      const video = target as HTMLVideoElement
      if (video.tagName !== 'VIDEO' || closest(video, ignored)) return
      const { currentTime, duration } = video
      const percent = Math.min(100, (100 * currentTime) / duration) | 0
      const report = (action: Video['action'], percent: number) =>
        capture('video', {
          src: video.currentSrc.slice(0, 2048),
          title: attribute(video, 'title') || attribute(video, 'aria-label'),
          action,
          position: currentTime,
          // NaN while unknown, Infinity for a live stream: both are null in JSON.
          duration,
          percent,
        })
      if (type === 'timeupdate') {
        for (const threshold of [25, 50, 75]) {
          if (percent < threshold || reached.get(video)! >= threshold) continue
          reached.set(video, threshold)
          report('progress', threshold)
        }
      } else if (type !== 'pause' || !video.ended) {
        // Browsers pause a video that ends, too.
        if (type === 'ended') reached.delete(video)
        report(type, percent)
      }
    })
  }
}
