/** How far a page was scrolled. */
import type { CapturedData } from '../../schemas/captured.ts'
import type { More } from '../src/more.ts'

type Note = (type: 'scroll', data: () => CapturedData<'scroll'>) => void

/** Parts that lie over a page. */
const layers = 'dialog,[popover],[aria-modal],[role$=dialog],[role=menu],[role=listbox]'
const settledMs = 200

/** The page must not notice errors. */
const later = (work: () => void, ms?: number) =>
  (window.__zone_symbol__setTimeout || setTimeout)(() => {
    try {
      work()
    } catch {}
  }, ms)

/** The element whose depth is the page's; none for a menu, a dialog or a chat window. */
function pageScroller(scroller: Element | undefined): Element | undefined {
  const root = document.scrollingElement
  if (root && root.scrollHeight > root.clientHeight) return root
  if (!scroller || Element.prototype.closest.call(scroller, layers)) return
  const isSmall = 2 * scroller.clientHeight < innerHeight || 2 * scroller.clientWidth < innerWidth
  // A page that is held below a dialog has its content; that of an application is in the container.
  const { body } = document
  const isHeld = scroller !== body && body.scrollHeight > innerHeight
  return isSmall || isHeld ? undefined : scroller
}

/**
 * Depth is measured on the document. If an application's document does not scroll, it is measured on a large
 * container that scrolled. At the top there is none: nothing was scrolled, or a jump there preceded the
 * content of a new route. The first screen is part of it. The page must have loaded, and its height must have
 * been stable for a moment, unless the view of this URL ends.
 */
export function watchDepth(more: More, note: Note): void {
  /** The highest threshold reported for this page view. */
  let reached = 0
  /** The content's height when it was last read, and how much of it has been seen. */
  let height = 0
  let seen = 0
  /** The last position, and that at the start of this view: neither counts scrolling of the previous page. */
  let position = 0
  let start = 0
  let isPending = false
  let last: Element | undefined

  const read = (endOf?: string): void => {
    if (!isPending) return
    isPending = false
    const scroller = pageScroller(last)
    if (!scroller) return
    const { scrollTop, clientHeight, scrollHeight } = scroller
    if (!scrollTop || scrollTop === start || document.readyState !== 'complete') return
    position = scrollTop
    // Fractions of a pixel at the end of a zoomed page: 1 px is near enough.
    seen = Math.max(seen, scrollTop + clientHeight + 1)
    if (endOf || height === scrollHeight) {
      const percentage = (100 * seen) / scrollHeight
      while (reached < 100 && reached + 25 <= percentage) {
        reached += 25
        const threshold = reached
        note('scroll', () => ({ percentage, threshold, ...(endOf && { url: endOf }) }))
      }
    } else wait(settledMs)
    height = scrollHeight
  }
  /** Browsers send scroll events during a frame. Reading the layout after it forces none. */
  const wait = (ms?: number): void => {
    isPending = true
    later(read, ms)
  }
  more.read = read
  more.restart = () => {
    reached = height = seen = 0
    start = position
  }
  more.scroll = (scroller) => {
    last = scroller
    if (!isPending) wait()
  }
}
