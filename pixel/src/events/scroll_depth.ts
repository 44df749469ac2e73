import { note } from '../queue.ts'
import { later } from '../safe.ts'

/** The highest threshold reported for this page view. */
let reached = 0
/** The content's height when it was last read, and how much of it has been seen. */
let height = 0
let seen = 0
/**
 * The last position that was read, and the position at the start of this page view. Both exclude scrolling of the
 * previous page.
 */
let position = 0
let start = 0
/** The wait after which the position is read. */
let pending: ReturnType<typeof setTimeout> | undefined

/** The last scrolled element, document or window. */
let scroller: Element

/**
 * Reads the layout once per frame, however often the page scrolls. Browsers send scroll events during a
 * frame, so a timer runs after it. An earlier read would force a layout.
 */
export const scroll = (_: Event, path: Element[]): void => {
  scroller = path[0]!
  pending = pending || later(readScroll)
}

/**
 * Depth is measured on the document. If an application's document does not scroll, it is measured on a large
 * container that scrolled. At the top there is none: nothing was scrolled, or a jump there preceded the
 * content of a new route. The first screen is part of it. The page must have loaded, and its height must have
 * been stable for a moment, unless the view of this URL ends.
 */
export const readScroll = (endOf?: string): void => {
  if (!pending) return
  pending = undefined
  // None where body scrolls in a page without a doctype.
  const root = document.scrollingElement || scroller
  const { scrollTop, clientHeight, scrollHeight } =
    root.scrollHeight > root.clientHeight ? root : scroller
  // Of the three words of readyState only "complete" comes before d.
  if (
    !scrollTop ||
    scrollTop === start ||
    2 * clientHeight < innerHeight ||
    document.readyState > 'd'
  )
    return
  position = scrollTop
  // Fractions of a pixel at the end of a zoomed page: 1 px is near enough.
  seen = Math.max(seen, scrollTop + clientHeight + 1)
  if (endOf || height === scrollHeight) {
    const percentage = (100 * seen) / scrollHeight
    while (reached < 100 && reached + 25 <= percentage) {
      const threshold = (reached += 25)
      note('scroll', () => ({ percentage, threshold, ...(endOf && { url: endOf }) }))
    }
  } else {
    pending = later(readScroll, 200)
  }
  height = scrollHeight
}

/** For each page view: starts depths again. */
export const restartScroll = (): void => {
  reached = height = seen = 0
  start = position
}
