/** The shown page: its address, its views and their depth. Every event is recorded with its address. */
import type { CapturedData, CapturedType } from '../../schemas/captured.ts'
import { level } from './consent.ts'
import { find } from './element.ts'
import { common } from './events/custom.ts'
import { searched } from './events/submit.ts'
import { ask, attempt, json, later, real } from './safe.ts'
import { schedule } from './send.ts'
import { encode, queue } from './waiting.ts'

/** The page that is viewed. */
let shown = real(document, 'referrer')
/** The referrer of the shown page: after a change within the page, the previous URL. */
let referrer: string
/** The pending page view of a changed URL, recorded when the URL has settled. */
let coming:
  | { url: string; at?: number; replaced?: boolean | undefined; referrer: string }
  | undefined

/** Every event has this page, also before the URL has settled. */
const currentReferrer = (): string => (coming && !coming.replaced ? shown : referrer)

/** The maximum number of waiting events. */
const entriesMax = 500

/**
 * The only work of a listener: it keeps time and place, and leaves the rest for later. Events on an ignored
 * path are not recorded.
 */
export const note = <T extends CapturedType>(
  type: T,
  data: () => CapturedData<T>,
  path: EventTarget[] = [],
): void => {
  const url = location.href
  const at = Date.now()
  if (level && !queue[entriesMax - 1])
    queue.push(() =>
      find(path, '[data-footfall-ignore]')
        ? ''
        : json({
            url,
            referrer: currentReferrer(),
            at,
            properties: common,
            ...data(),
            id: Math.random(),
            type,
          }),
    )
  schedule()
}

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
const restartScroll = (): void => {
  reached = height = seen = 0
  start = position
}

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
