import { isIP } from 'node:net'
import { openFile } from '../../../identity/load/source.ts'
import { isObject } from '../../../platform/json.ts'
import { StartError } from '../../../platform/startError.ts'
import { type Attribution, withAttribution } from './attribution.ts'
import { withElementsAsLines } from './jsonArray.ts'
import { deviceOf, deviceTypeOf, known } from './names.ts'
import {
  countryOf,
  downloadOf,
  type IdOf,
  outboundClick,
  type Product,
  type ProductOptions,
  type ProductRecord,
  type ProductRow,
  present,
  screenOf,
  skip,
  textOf,
} from './product.ts'

/** Matomo's visit log: answers of `Live.getLastVisitsDetails`, as a JSON array or one visit a line. */
export function createMatomo(options: ProductOptions): Product {
  return {
    name: 'matomo',
    facts: [options.site ?? '', options.host ?? ''],
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
      [
        'referrerType campaign, referrerName, referrerKeyword, campaignSource, …',
        'parameters of the first page_url: utm_campaign, utm_term, utm_source, …',
      ],
      ['contents (type 13), other actions', 'skipped'],
      ['actions without url', 'on the page before; in visits without any, on that of --host'],
      ['visitIp', 'client_ip, as the pixel stores addresses'],
      ['browser, operating system, deviceType, resolution', 'device columns'],
      ['countryCode, region, city, languageCode', 'country, region, city, language'],
    ],
    fields,
    open: async (path, format) => {
      const source = await openFile(path, format)
      if (source.format === 'csv')
        throw new StartError(
          `${path}: Matomo's CSV has no single actions. Export the visits log with format=JSON`,
        )
      return source.format === 'ndjson' ? withElementsAsLines(source) : source
    },
    rowsOf: (visit, idOf) => rowsOf(visit, options, idOf),
  }
}

/** Fields of visits and actions that Footfall stores, or derives itself. */
const fields =
  `idSite idVisit visitorId visitIp countryCode region city languageCode resolution browserName
  browserVersion browser browserCode browserFamily operatingSystemName operatingSystemVersion operatingSystem
  operatingSystemCode deviceType deviceTypeIcon country language location regionCode continent continentCode
  referrerUrl referrerType referrerTypeName referrerName referrerKeyword campaignName campaignKeyword campaignSource
  campaignMedium campaignContent adClickId adProviderId serverTimestamp serverDate serverTimePretty serverDatePretty
  firstActionTimestamp lastActionTimestamp lastActionDateTime visitDuration visitDurationPretty visitServerHour
  actions interactions events searches goalConversions visitCount visitorType siteName siteCurrency siteCurrencySymbol
  result message actionDetails.type actionDetails.url actionDetails.pageTitle actionDetails.timestamp
  actionDetails.title actionDetails.subtitle actionDetails.icon actionDetails.iconSVG actionDetails.pageId
  actionDetails.idpageview actionDetails.pageIdAction actionDetails.pageviewPosition actionDetails.serverTimePretty
  actionDetails.timeSpent actionDetails.timeSpentPretty actionDetails.siteSearchKeyword actionDetails.siteSearchCount
  actionDetails.eventCategory actionDetails.eventAction actionDetails.eventName actionDetails.eventValue
  actionDetails.goalName actionDetails.revenue actionDetails.orderId actionDetails.items actionDetails.itemDetails`.split(
    /\s+/,
  )

function* rowsOf(
  visit: ProductRecord,
  { site, host }: ProductOptions,
  idOf: IdOf,
): Generator<ProductRow> {
  const { idSite, idVisit, visitorId, actionDetails } = visit
  if (visit.result === 'error')
    return yield skip(`Matomo answered an error: ${textOf(visit.message) ?? 'no message'}`)
  if (site !== null && String(idSite) !== site) return yield skip(`idSite is not ${site}`)
  if (!textOf(visitorId)) return yield skip('visitorId must be a string')
  if (!Array.isArray(actionDetails)) return yield skip('actionDetails must be an array')
  const attribution = attributionOf(visit)
  const shared = sharedOf(visit)
  const cookie_id = idOf('visitor', visitorId)
  const referrer = textOf(visit.referrerUrl)
  const home = host ? `https://${host}/` : undefined
  const entry = actionDetails.map(pageOf).find(Boolean)
  let latest: string | undefined
  let page: string | undefined
  for (const [index, action] of actionDetails.entries()) {
    if (!isObject(action)) {
      yield skip(`actionDetails.${index} must be an object`)
      continue
    }
    latest = pageOf(action) ?? latest
    const event = eventOf(action, { page: latest ?? entry, from: page ?? referrer, home })
    if ('unreadable' in event) {
      yield event
      continue
    }
    if (event.event_type === 'page_view') {
      const isFirst = page === undefined
      page = String(event.page_url)
      if (isFirst) event.page_url = withAttribution(page, attribution)
    }
    yield {
      ...shared,
      ...event,
      cookie_id,
      identity: [
        idSite,
        idVisit,
        visitorId,
        action.pageId,
        action.type,
        action.timestamp,
        action.url,
        index,
      ],
      ts_millis: Number(action.timestamp) * 1_000,
    }
  }
}

/**
 * The address of the page on which an action happened. Actions without one have that of the action before, or the
 * first: Matomo lists an order before its page view.
 */
const pageOf = (action: unknown): string | undefined =>
  isObject(action) && action.type !== 'outlink' && action.type !== 'download'
    ? textOf(action.url)
    : undefined

type Event = ProductRecord | { unreadable: string }

/** Addresses around an action: its page, the page view before it or the referrer of the visit, and the site. */
interface Around {
  readonly page?: string | undefined
  readonly from?: string | undefined
  readonly home?: string | undefined
}

function eventOf(action: ProductRecord, { page, from, home }: Around): Event {
  const type = textOf(action.type) ?? ''
  const own = textOf(action.url)
  if (type === 'action')
    return own
      ? {
          event_type: 'page_view',
          ...present({ page_url: own, title: action.pageTitle, referrer_url: from }),
        }
      : skip('the action has no url')
  const href = type === 'outlink' || type === 'download' ? own : undefined
  const url = page ?? href ?? home
  if (!url) return skip(`the ${type || 'action'} has no url: name the host of the site with --host`)
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
  return present({
    // Matomo without addresses writes 0.0.0.0.
    client_ip: ip && isIP(ip) !== 0 && ip !== '0.0.0.0' ? ip : undefined,
    ...deviceOf({
      browser: visit.browserCode === 'UNK' ? undefined : (visit.browserName ?? visit.browser),
      browserVersion: visit.browserVersion,
      os:
        visit.operatingSystemCode === 'UNK'
          ? undefined
          : (visit.operatingSystemName ?? visit.operatingSystem),
      osVersion: visit.operatingSystemVersion,
    }),
    device_type: deviceTypeOf(iconName(visit.deviceTypeIcon)) ?? deviceTypeOf(visit.deviceType),
    country: countryOf(visit.countryCode),
    region: known(visit.region),
    city: known(visit.city),
    language: known(visit.languageCode),
    ...screenOf(visit.resolution),
  })
}

/** The name of an icon is English in every language of Matomo: "plugins/…/devices/smartphone.png". */
const iconName = (path: unknown) => /([^/]+)\.\w+$/.exec(textOf(path) ?? '')?.[1]

/** Matomo's names of advertisers, with the parameter of their click id. */
const clickIdOf: Readonly<Record<string, string>> = {
  google: 'gclid',
  bing: 'msclkid',
  facebook: 'fbclid',
  linkedin: 'li_fat_id',
  twitter: 'twclid',
  pinterest: 'epik',
  yandex: 'yclid',
}
/** The mediums of visits whose referrer Matomo does not have as an address. */
const mediums: Readonly<Record<string, string>> = {
  search: 'organic',
  social: 'social',
  website: 'referral',
}

function attributionOf(visit: ProductRecord): Attribution {
  const { referrerType, referrerName, referrerKeyword, adClickId } = visit
  const clickId = clickIdOf[String(visit.adProviderId ?? '').toLowerCase()]
  const clickIds = clickId ? { [clickId]: adClickId } : {}
  if (referrerType === 'campaign')
    return {
      source: visit.campaignSource,
      medium: visit.campaignMedium,
      campaign: visit.campaignName ?? referrerName,
      term: visit.campaignKeyword ?? referrerKeyword,
      content: visit.campaignContent,
      clickIds,
    }
  const medium = mediums[String(referrerType)]
  return medium && !textOf(visit.referrerUrl)
    ? { source: referrerName, medium, clickIds }
    : { clickIds }
}
