import { note } from '../queue.ts'
import { reacted } from '../reaction.ts'
import { schedule } from '../send.ts'

/** The highest threshold reported for this page view. */
let reached = 0
/** Runs until the height is stable; 0 since then. */
let settling: ReturnType<typeof setTimeout> | 0 = 0
let frame = 0

/** Reads the layout once per frame however often the page scrolls: listeners only ask for it. */
export const scroll = (): void => {
  reacted()
  frame = frame || requestAnimationFrame(readScroll)
}

/** Hidden pages get no frames: one that was asked for is read when the page leaves. */
export const readScroll = (): void => {
  if (frame && !settling) {
    // Fractions of a pixel at the end of a zoomed page: 1 px is near enough.
    const depth = (100 * (scrollY + innerHeight + 1)) / document.documentElement.scrollHeight
    const percentage = Math.min(100, depth | 0)
    while (reached + 25 <= percentage) {
      reached += 25
      note('scroll_depth', { percentage, threshold: reached as 25 })
    }
  }
  frame = 0
}

/** No depth means anything before the page has loaded and stopped growing: for half a second its height is the same. */
const settle = () => {
  clearTimeout(settling)
  settling = setTimeout(() => {
    if (document.readyState !== 'complete') return settle()
    settling = 0
    scroll()
    // The page view has waited for this; the frame comes first.
    schedule(50)
  }, 500)
}

/** For each page view: depths count anew. */
export const restartScroll = (): void => {
  reached = 0
  settle()
}

export const watchHeight = (): void => new ResizeObserver(settle).observe(document.documentElement)
