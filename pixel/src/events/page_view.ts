import { fragment } from '../config.ts'
import { attempt } from '../guard.ts'
import { gather, note } from '../queue.ts'
import { reacted } from '../reaction.ts'
import { leave } from '../send.ts'
import { restartScroll } from './scroll_depth.ts'
import { searchFromUrl } from './search.ts'

/** Title and sizes are read when the event is encoded: applications set titles late, sizes may force a layout. */
export const pageView = (data?: object): void =>
  note('page_view', {
    get title() {
      return document.title
    },
    referrer: document.referrer,
    screen: { height: screen.height, width: screen.width },
    get viewport() {
      return { height: innerHeight, width: innerWidth }
    },
    ...data,
  })

/** A jump to a heading, or to where the page is already, shows no other page. */
const page = () => location.href.replace(fragment, '')
let shown: string

/** Within a page the referrer is the page before. What waits is encoded now: soon the title is another page's. */
export const navigated = (referrer = document.referrer): void => {
  reacted()
  gather()
  shown = page()
  pageView({ referrer })
  searchFromUrl()
  restartScroll()
}

export const moved = (): void => {
  if (page() !== shown) navigated(shown)
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
