import { note } from '../queue.ts'
import { reacted } from '../reaction.ts'

/** The highest threshold reported for this page view. */
let reached = 0
/** The page's height when it was last read. */
let height = 0
/** The frame that reads the position, or a wait after which it is read. */
let pending: number | ReturnType<typeof setTimeout> = 0

/** Reads the layout once per frame however often the page scrolls: the listener only asks for it. */
export const scroll = (): void => {
  reacted()
  pending = pending || requestAnimationFrame(readScroll)
}

/** Where nothing scrolls a frame would be drawn for nothing: by then the page has laid itself out. */
const wait = () => {
  pending = setTimeout(readScroll, 200)
}

/**
 * Also when the page leaves, for hidden pages get no frames. No depth means anything before the page has loaded and
 * stopped growing: for a while its height is the same.
 */
export const readScroll = (): void => {
  pending = 0
  const scrollHeight = document.documentElement.scrollHeight
  // Of its three words only "complete" comes before d.
  if (height === scrollHeight && document.readyState < 'd') {
    // Fractions of a pixel at the end of a zoomed page: 1 px is near enough.
    const percentage = (100 * (scrollY + innerHeight + 1)) / height
    while (reached + 25 <= percentage) {
      const threshold = (reached += 25)
      note('scroll', () => ({ percentage, threshold }))
    }
  } else {
    height = scrollHeight
    wait()
  }
}

/** For each page view: depths count anew. */
export const restartScroll = (): void => {
  reached = height = 0
  wait()
}
