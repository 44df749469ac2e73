/** The shown page: its address, its views and their depth. Every event is recorded with its address. */
import type { CapturedData, CapturedType } from '../../schemas/captured.ts'
import { level } from './consent.ts'
import { find } from './element.ts'
import { common } from './events/custom.ts'
import { uuid } from './identity.ts'
import { more } from './more.ts'
import { ask, attempt, json, later, real, short } from './safe.ts'
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

/** The maximum number of waiting events; waiting.ts limits their characters. */
const entriesMax = 1000

/** 48 random bits of this page, then counted: not Math.random(), which pages seed. */
let number: number

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
            url: short(url),
            referrer: short(currentReferrer()),
            at,
            properties: common,
            ...data(),
            id: (number = (number || +`0x${uuid().slice(24)}`) + 1) / 2 ** 49,
            type,
          }),
    )
  schedule()
}

/** Title and sizes are read when the event is encoded: applications set titles late, sizes may force a layout. */
export const pageView = (data?: object): void => {
  note('page', () => ({
    title: short(real(document, 'title')),
    sizes: [screen.width, screen.height, innerWidth, innerHeight],
    searched: more.searched,
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
      more.restart?.()
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
      more.read?.(shown)
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
