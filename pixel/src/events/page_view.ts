import { fragment } from '../config.ts'
import { attempt } from '../guard.ts'
import { encode, keep } from '../queue.ts'
import { reacted } from '../reaction.ts'
import { leave, schedule } from '../send.ts'
import { restartScroll } from './scroll_depth.ts'
import { searchFromUrl } from './search.ts'

/** Title and sizes are read when the event is encoded: applications set titles late, sizes may force a layout. */
export const pageView = (data?: object): void => {
  keep('page_view', {
    get title() {
      return document.title
    },
    referrer: document.referrer || null,
    screen: { height: screen.height, width: screen.width },
    get viewport() {
      return { height: innerHeight, width: innerWidth }
    },
    ...data,
  })
  // It waits for the scroll depth that the first screen already shows: one request, not two.
  setTimeout(schedule, 1500)
}

/** A jump to a heading, or to where the page is already, shows no other page. */
const page = () => document.URL.replace(fragment, '')
let shown: string

/** Within a page the referrer is the page before. What waits is encoded now: soon the title is another page's. */
export const navigated = (data?: object): void => {
  reacted()
  encode()
  shown = page()
  pageView(data)
  searchFromUrl()
  restartScroll()
}

export const moved = (): void => {
  if (page() !== shown) navigated({ referrer: shown })
}

/** Out of the back/forward cache. */
export const restored = (event: PageTransitionEvent): void => {
  if (!event.persisted) return
  leave(false)
  navigated()
}

/** A page may forbid the patch (a frozen history): then pages inside it go uncounted. */
export const watchHistory = (): void => {
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = function (...args) {
      original.apply(this, args)
      attempt(moved)
    }
  }
}
