import { isIP } from 'node:net'
import { openFile } from '../../../identity/load/source.ts'
import { isObject } from '../../../ingest/normalize/validateEvent.ts'
import { withElementsAsLines } from './jsonArray.ts'
import {
  createIds,
  downloadOf,
  outboundClick,
  type Product,
  type ProductOptions,
  type ProductRecord,
  type ProductRow,
  present,
  referrerOf,
  screenOf,
  skip,
  textOf,
} from './product.ts'

const deviceTypes: Readonly<Record<string, string>> = {
  desktop: 'desktop',
  smartphone: 'mobile',
  phablet: 'mobile',
  'feature phone': 'mobile',
  tablet: 'tablet',
  tv: 'smarttv',
  console: 'console',
  wearable: 'wearable',
}

/** Matomo's visit log: answers of `Live.getLastVisitsDetails`, as a JSON array or one visit a line. */
export function createMatomo(options: ProductOptions): Product {
  return {
    name: 'matomo',
    facts: [options.site ?? ''],
    mapping: [
      ['visitorId', 'cookie_id, a UUID derived from it'],
      ['actionDetails.timestamp', 'ts_millis'],
      ['action', 'page_view with url, pageTitle and the page before, or referrerUrl'],
      ['event', 'custom, named category and action; name and value are properties'],
      ['goal', 'custom, named goal; goal_name and revenue are properties'],
      ['ecommerceOrder, ecommerceAbandonedCart', 'custom, with the order as properties'],
      ['search', 'search with siteSearchKeyword'],
      ['download', 'download'],
      ['outlink', 'click with link: outbound'],
      ['other actions', 'skipped'],
      ['visitIp', 'client_ip, as the pixel stores addresses'],
      ['browser, operating system, deviceType, resolution', 'device columns'],
      ['countryCode, region, city, languageCode', 'country, region, city, language'],
    ],
    open: async (path, format) => {
      const source = await openFile(path, format)
      return source.format === 'ndjson' ? withElementsAsLines(source) : source
    },
    rowsOf: (visit, eventIdKey) => rowsOf(visit, options, createIds('matomo', eventIdKey)),
  }
}

function* rowsOf(
  visit: ProductRecord,
  { site }: ProductOptions,
  idOf: ReturnType<typeof createIds>,
): Generator<ProductRow> {
  const { idSite, idVisit, visitorId, actionDetails } = visit
  if (visit.result === 'error')
    return yield skip(`Matomo answered an error: ${textOf(visit.message) ?? 'no message'}`)
  if (site !== null && String(idSite) !== site) return yield skip(`idSite is not ${site}`)
  if (!textOf(visitorId)) return yield skip('visitorId must be a string')
  if (!Array.isArray(actionDetails)) return yield skip('actionDetails must be an array')
  const shared = sharedOf(visit)
  const cookie_id = idOf('visitor', visitorId)
  let page = referrerOf(visit.referrerUrl)
  let isFirst = true
  for (const [index, action] of actionDetails.entries()) {
    if (!isObject(action)) {
      yield skip(`actionDetails.${index} must be an object`)
      continue
    }
    const event = eventOf(action, page, isFirst)
    if ('unreadable' in event) {
      yield event
      continue
    }
    if (event.event_type === 'page_view') {
      page = String(event.page_url)
      isFirst = false
    }
    yield {
      ...shared,
      ...event,
      cookie_id,
      event_id: idOf('event', idSite, idVisit, action.pageId ?? index, action.type, index),
      ts_millis: Number(action.timestamp) * 1_000,
    }
  }
}

type Event = ProductRecord | { unreadable: string }

/** Maps an action. `page` is the address of the page view before it, at first the referrer of the visit. */
function eventOf(action: ProductRecord, page: string | null, isFirst: boolean): Event {
  const type = textOf(action.type) ?? ''
  const own = textOf(action.url)
  if (type === 'action')
    return own
      ? {
          event_type: 'page_view',
          ...present({ page_url: own, title: action.pageTitle, referrer_url: page }),
        }
      : skip('the action has no url')
  const href = type === 'outlink' || type === 'download' ? own : undefined
  const url = href === undefined ? (own ?? page) : isFirst ? href : page
  if (!url) return skip(`the ${type || 'action'} has no url`)
  switch (type) {
    case 'outlink':
      return { event_type: 'click', event_data: outboundClick(url, href) }
    case 'download':
      return { event_type: 'download', event_data: downloadOf(url, href!) }
    case 'search': {
      const query = textOf(action.siteSearchKeyword)
      if (!query) return skip('the search has no siteSearchKeyword')
      const results = Number.parseInt(String(action.siteSearchCount ?? ''), 10)
      const results_count = Number.isNaN(results) ? null : results
      return { event_type: 'search', event_data: { url, query, results_count } }
    }
    case 'event': {
      const name = `${action.eventCategory ?? ''} ${action.eventAction ?? ''}`.trim()
      const properties = present({ name: action.eventName, value: action.eventValue })
      return custom(url, name, properties)
    }
    case 'goal': {
      const { goalName: goal_name, revenue } = action
      return custom(url, 'goal', present({ goal_name, revenue }))
    }
    case 'ecommerceOrder':
    case 'ecommerceAbandonedCart': {
      const { orderId: order_id, revenue, items, itemDetails } = action
      const name = type === 'ecommerceOrder' ? 'order' : 'abandoned_cart'
      return custom(url, name, present({ order_id, revenue, items, item_details: itemDetails }))
    }
  }
  return skip(`Footfall has no event for actions of type "${type.slice(0, 40)}"`)
}

const custom = (url: string, name: string, properties: ProductRecord): Event => ({
  event_type: 'custom',
  event_data: { url, name, properties },
})

function sharedOf(visit: ProductRecord): ProductRecord {
  const ip = textOf(visit.visitIp)
  const country = textOf(visit.countryCode)?.toUpperCase()
  return present({
    // Matomo without addresses writes 0.0.0.0.
    client_ip: ip && isIP(ip) !== 0 && ip !== '0.0.0.0' ? ip : undefined,
    browser: visit.browserName,
    browser_version: visit.browserVersion,
    os: visit.operatingSystemName,
    os_version: visit.operatingSystemVersion,
    device_type: deviceTypes[(textOf(visit.deviceType) ?? '').toLowerCase()],
    country: country && /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : undefined,
    region: known(visit.region),
    city: known(visit.city),
    language: visit.languageCode,
    ...screenOf(visit.resolution),
  })
}

const known = (value: unknown) => (value === 'Unknown' ? undefined : value)
