import { listen, safely } from '../guard.ts'
import { capture } from '../queue.ts'
import { schedule } from '../send.ts'

/** The highest threshold reported for this page view. */
let reached = 0
/** Runs until the height is stable; 0 since then. */
let settling: ReturnType<typeof setTimeout> | 0 = 0
let frame = 0

/** Reads the layout once per frame however often the page scrolls: listeners only ask for it. */
const request = () => {
  if (!settling) frame ||= requestAnimationFrame(readScroll)
}

/** No depth means anything before the page has loaded and stopped growing. */
const settle = () => {
  // Its height is stable when it has not changed for this long.
  const settleMs = 500
  clearTimeout(settling)
  settling = setTimeout(() => {
    if (document.readyState !== 'complete') return
    settling = 0
    request()
    // The page view has waited for this.
    schedule()
  }, settleMs)
}

/** Hidden pages get no frames: one that was asked for is read when the page leaves. */
export const readScroll = safely(() => {
  const isAsked = frame && !settling
  frame = 0
  if (!isAsked) return
  // Fractions of a pixel at the end of a zoomed page: 1 px is near enough.
  const depth = (100 * (scrollY + innerHeight + 1)) / document.documentElement.scrollHeight
  const percentage = Math.min(100, Math.floor(depth))
  for (const threshold of [25, 50, 75, 100] as const) {
    if (threshold <= reached || percentage < threshold) continue
    reached = threshold
    capture('scroll_depth', { percentage, threshold })
  }
})

/** For each page view: depths count anew. */
export const restartScroll = (): void => {
  reached = 0
  settle()
}

export const watchScroll = (): void => {
  listen('scroll', request)
  listen('load', settle)
  const observer = new ResizeObserver(settle)
  observer.observe(document.documentElement)
  observer.observe(document.body)
}
