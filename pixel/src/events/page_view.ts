import { decoded } from '../element.ts'
import { listen, safely } from '../guard.ts'
import { capture, gather } from '../queue.ts'
import { restartScroll } from './scroll_depth.ts'
import { searchFromUrl } from './search.ts'

let lastUrl = ''

/** The title is read when the event is encoded: applications set it after they have navigated. */
export const pageView = (data: object = {}, referrer = document.referrer): void => {
  capture('page_view', {
    get title() {
      return document.title.slice(0, 1000)
    },
    referrer: referrer.slice(0, 8192) || null,
    screen: { height: screen.height, width: screen.width },
    viewport: { height: innerHeight, width: innerWidth },
    ...data,
  })
}

/** Within a page the referrer is the page before. What waits is encoded now: soon the title is another page's. */
const navigated = (referrer?: string) => {
  gather()
  lastUrl = location.href
  pageView({}, referrer)
  searchFromUrl()
  restartScroll()
}

/** A jump to a heading, to `#` or to where the page is already fires popstate, but shows no other page. */
const isJump = (from: string, to: string) =>
  from === to ||
  (from.split('#')[0] === to.split('#')[0] &&
    [from, to].some((url) => {
      const anchor = url.split('#')[1]
      return anchor === '' || document.getElementById(decoded(`${anchor}`))
    }))

/** A page may forbid the patch (a frozen history): then pages inside it go uncounted. */
const patch = safely((name: 'pushState' | 'replaceState') => {
  const original = history[name]
  const onReturn = safely(() => {
    if (name === 'pushState' || location.href !== lastUrl) navigated(lastUrl)
  })
  history[name] = function (...args) {
    original.apply(this, args)
    onReturn()
  }
})

export const watchPages = (): void => {
  navigated()
  patch('pushState')
  patch('replaceState')
  listen('popstate', () => {
    if (isJump(lastUrl, location.href)) lastUrl = location.href
    else navigated(lastUrl)
  })
  listen('pageshow', (event: PageTransitionEvent) => {
    if (event.persisted) navigated()
  })
}
