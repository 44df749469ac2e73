import { encode, note } from '../queue.ts'
import { ask, attempt, later, real } from '../safe.ts'
import { readScroll, restartScroll } from './scroll_depth.ts'
import { searched } from './submit.ts'

/** The page that is viewed. */
let shown = real(document, 'referrer')
/** The referrer of the shown page: after a change within the page, the previous URL. */
let referrer: string
/** The pending page view of a changed URL, recorded when the URL has settled. */
let coming:
  | { url: string; at?: number; replaced?: boolean | undefined; referrer: string }
  | undefined

/** Every event has this page, also before the URL has settled. */
export const currentReferrer = (): string => (coming && !coming.replaced ? shown : referrer)

/** Title and sizes are read when the event is encoded: applications set titles late, sizes may force a layout. */
export const pageView = (data?: object): void => {
  note('page', () => ({
    title: real(document, 'title'),
    sizes: [screen.width, screen.height, innerWidth, innerHeight],
    searched,
    results: ask(document, '[data-footfall-results]', 'querySelector')?.dataset.footfallResults,
    ...data,
  }))
}

/** A jump to a heading, or to where the page is already, shows no other page. */
const page = (url: string) => url.replace(config.fragment, '')
const withoutQuery = (url: string) => page(url).replace(/\?[^#]*/, '')

/** The URL has settled, or the page closes. */
export const settle = (view = coming): void => {
  coming = undefined
  if (view) {
    shown = page(view.url)
    if (!view.replaced) {
      referrer = view.referrer
      restartScroll()
    }
    if (!view.replaced || config.replacedQuery.test(view.url)) pageView(view)
  }
}

/**
 * Routers may pass several URLs on the way to the final one: that is one page. A replaced query is the same
 * page with another filter, or with a search that is being typed.
 */
export const moved = (replaces?: boolean): void => {
  const url = location.href
  const replaced = replaces && withoutQuery(url) === withoutQuery(shown)
  if (coming?.replaced && !replaced) settle()
  if (page(url) === shown) coming = undefined
  else {
    if (!coming && !replaced) {
      readScroll(shown)
      // Waiting events are encoded now, because the title will soon be another page's.
      encode()
    }
    const view = (coming = { url, at: Date.now(), replaced, referrer: shown })
    later(() => view === coming && settle(), replaced ? 1000 : 100)
  }
}

/** Also for pages restored from the back/forward cache. */
export const navigated = (): void => {
  attempt(() => settle({ url: location.href, referrer: shown }))
}
