import { openFile } from '../../../identity/load/source.ts'
import { isObject } from '../../../platform/json.ts'
import { withAttribution } from './attribution.ts'
import { countryCode } from './countryCodes.ts'
import { chosen, deviceOf, known } from './names.ts'
import {
  downloadOf,
  type IdOf,
  outboundClick,
  type Product,
  type ProductOptions,
  type ProductRecord,
  type ProductRow,
  present,
  skip,
  textOf,
} from './product.ts'

/** Events that GA4 derives. Footfall derives visits itself. */
const derived = new Set([
  'session_start',
  'first_visit',
  'user_engagement',
  'form_start',
  'first_open',
])

/** Parameters that describe the page or GA4's session. They are no properties of a custom event. */
const ownParams = new Set([
  'page_location',
  'page_title',
  'page_referrer',
  'ga_session_id',
  'ga_session_number',
  'session_engaged',
  'engaged_session_event',
  'engagement_time_msec',
  'batch_page_id',
  'batch_ordering_id',
  'ignore_referrer',
  'debug_mode',
])

const videoActions: Readonly<Record<string, string>> = {
  video_start: 'play',
  video_progress: 'progress',
  video_complete: 'ended',
}
const thresholds = [100, 75, 50, 25]

/** Google Analytics 4: the tables `events_YYYYMMDD` that its BigQuery export writes, as NDJSON or Parquet. */
export function createGa4({ host }: ProductOptions): Product {
  return {
    name: 'ga4',
    facts: [host ?? ''],
    mapping: [
      ['user_pseudo_id', 'cookie_id, a UUID derived from it'],
      ['event_timestamp', 'ts_millis'],
      ['page_view', 'page_view with page_location, page_title and page_referrer'],
      ['scroll', 'scroll_depth with percent_scrolled'],
      ['click (outbound)', 'click with link_url, link_id, link_classes and link_text'],
      ['file_download', 'download with link_url and file_name'],
      ['view_search_results', 'search with search_term'],
      ['form_submit', 'form_submission with form_id, form_name and form_destination'],
      ['video_start, video_progress, video_complete', 'video: play, progress, ended'],
      ['other events', 'custom, with the other parameters as properties'],
      ['items, ecommerce', 'properties of custom events'],
      ['collected_traffic_source', 'parameters of page_url that it lacks: utm_source, gclid, …'],
      [[...derived].join(', '), 'skipped: Footfall derives visits itself'],
      ['device, geo', 'browser, os, device_type, language, country, region, city'],
      ['events without page_location', 'on the page of hostname, or of --host'],
      ['streams of apps, events without user_pseudo_id', 'skipped'],
    ],
    fields,
    open: openFile,
    rowsOf: (record, idOf) => [rowOf(record, host, idOf)],
  }
}

/** Columns of GA4 that Footfall stores, or derives itself. */
const fields =
  `event_name event_timestamp event_date event_previous_timestamp event_server_timestamp_offset
  event_bundle_sequence_id batch_event_index batch_page_id batch_ordering_id platform stream_id user_pseudo_id
  user_first_touch_timestamp is_active_user event_params items ecommerce collected_traffic_source
  session_traffic_source_last_click.manual_campaign device.category device.operating_system
  device.operating_system_version device.language device.browser device.browser_version device.web_info
  geo.country geo.region geo.city geo.continent geo.sub_continent`.split(/\s+/)

function rowOf(record: ProductRecord, fallback: string | null, idOf: IdOf): ProductRow {
  const name = textOf(record.event_name)
  if (!name) return skip('event_name must be a string: this is no row of an events_ table of GA4')
  if (derived.has(name)) return skip(`GA4 derives ${name} itself; Footfall has its own visits`)
  const platform = textOf(record.platform) ?? 'WEB'
  if (platform !== 'WEB') return skip(`platform is ${platform}: Footfall imports web streams only`)
  const visitor = textOf(record.user_pseudo_id)
  if (!visitor) return skip('user_pseudo_id is empty: the visitor denied analytics_storage')
  const micros = Number(record.event_timestamp)
  if (!Number.isSafeInteger(micros)) return skip('event_timestamp must be epoch microseconds')
  const params = paramsOf(record.event_params)
  const device = objectOf(record.device)
  const web = objectOf(device.web_info)
  const host = textOf(web.hostname) ?? fallback
  const page = textOf(params.page_location) ?? (host && `https://${host}/`)
  if (!page) return skip('event_params has no page_location: name the host of the site with --host')
  const url = withAttribution(page, attributionOf(name, record, params))
  const bought = boughtIn(record)
  const order = [record.event_bundle_sequence_id, record.batch_event_index, record.batch_page_id]
  const batch = [...order, record.batch_ordering_id].map((value) => String(value ?? ''))
  return {
    ...eventOf(name, url, { ...params, ...bought }),
    identity: [visitor, micros, name, ...batch, Object.entries(params).toSorted(), textual(bought)],
    cookie_id: idOf('visitor', visitor),
    ts_millis: Math.floor(micros / 1_000),
    ...deviceColumns(device, web),
    ...placeOf(objectOf(record.geo)),
  }
}

function eventOf(name: string, url: string, params: ProductRecord): ProductRecord {
  switch (name) {
    case 'page_view':
      return {
        event_type: 'page_view',
        ...present({
          page_url: url,
          title: params.page_title,
          referrer_url: params.page_referrer,
        }),
      }
    case 'scroll': {
      const percentage = Math.min(100, Number(params.percent_scrolled ?? 90))
      const threshold = thresholds.find((each) => each <= percentage)
      if (threshold === undefined) break
      return { event_type: 'scroll_depth', event_data: { url, percentage, threshold } }
    }
    case 'file_download': {
      const href = textOf(params.link_url)
      if (!href) break
      const event_data = downloadOf(url, href, textOf(params.file_name))
      return { event_type: 'download', event_data }
    }
    case 'click': {
      const { link_url, link_id: id, link_classes: className, link_text: text } = params
      if (!link_url) break
      return {
        event_type: 'click',
        event_data: outboundClick(url, link_url, { id, className, text }),
      }
    }
    case 'view_search_results': {
      const query = textOf(params.search_term)
      if (!query) break
      return { event_type: 'search', event_data: { url, query, results_count: null } }
    }
    case 'form_submit':
      return { event_type: 'form_submission', event_data: formOf(url, params) }
  }
  const action = videoActions[name]
  if (action) return { event_type: 'video', event_data: videoOf(url, action, params) }
  const properties = Object.entries(params).filter(([key]) => !ownParams.has(key))
  return {
    event_type: 'custom',
    event_data: { url, name, properties: Object.fromEntries(properties) },
  }
}

const formOf = (url: string, params: ProductRecord) => ({
  url,
  form: {
    id: textOf(params.form_id) ?? null,
    name: textOf(params.form_name) ?? null,
    action: textOf(params.form_destination) ?? null,
    method: '',
  },
  fields: [],
})

const videoOf = (url: string, action: string, params: ProductRecord) => ({
  url,
  src: textOf(params.video_url) ?? '',
  title: textOf(params.video_title) ?? null,
  action,
  position: Math.max(0, Number(params.video_current_time) || 0),
  duration: Number(params.video_duration) > 0 ? Number(params.video_duration) : null,
  percent: Math.min(100, Math.max(0, Number(params.video_percent) || 0)),
})

/** Decodes `event_params`. BigQuery's NDJSON has integers as strings. */
function paramsOf(list: unknown): ProductRecord {
  const params: ProductRecord = Object.create(null)
  if (!Array.isArray(list)) return params
  for (const entry of list) {
    const { key, value } = objectOf(entry)
    if (typeof key !== 'string') continue
    const { string_value, int_value, float_value, double_value } = objectOf(value)
    const number = int_value ?? double_value ?? float_value
    if (string_value !== undefined && string_value !== null) params[key] = string_value
    else if (number !== undefined && number !== null) params[key] = numberOf(number)
  }
  return params
}

/** A number, or its text if JavaScript cannot represent it. */
const numberOf = (value: unknown) =>
  Number.isSafeInteger(Number(value)) || !/^-?\d+$/.test(String(value)) ? Number(value) : value

const deviceColumns = (device: ProductRecord, web: ProductRecord): ProductRecord =>
  present({
    ...deviceOf({
      browser: web.browser ?? device.browser,
      browserVersion: web.browser_version ?? device.browser_version,
      // Web streams without a known system, as in Google's sample.
      os: device.operating_system === 'Web' ? undefined : device.operating_system,
      osVersion: device.operating_system_version,
      device: device.category,
    }),
    language: known(device.language),
  })

/** The attribution of the event itself; for the first page view of a visit otherwise that of its session. */
function attributionOf(name: string, record: ProductRecord, params: ProductRecord) {
  const own = objectOf(record.collected_traffic_source)
  const session = objectOf(record.session_traffic_source_last_click)
  const first = name === 'page_view' && params.entrances ? objectOf(session.manual_campaign) : {}
  const attribution = {
    source: own.manual_source ?? params.source ?? first.source,
    medium: own.manual_medium ?? params.medium ?? first.medium,
    campaign: own.manual_campaign_name ?? params.campaign ?? first.campaign_name,
    term: own.manual_term ?? params.term ?? first.term,
    content: own.manual_content ?? params.content ?? first.content,
    clickIds: { gclid: own.gclid, dclid: own.dclid },
  }
  // GA4 derives these from the referrer, as Footfall does.
  const isDerived = /^(?:organic|referral|\(none\))$/.test(String(attribution.medium ?? ''))
  return isDerived && params.page_referrer ? { clickIds: attribution.clickIds } : attribution
}

/** The items of an event and its totals, without empty members. */
function boughtIn({ items, ecommerce }: ProductRecord): ProductRecord {
  const list = (Array.isArray(items) ? items : [])
    .map((item) => plain(item))
    .filter((item) => item !== undefined)
  return present({ items: list.length > 0 ? list : undefined, ecommerce: plain(ecommerce) })
}

/** A value without empty members; numbers that BigQuery writes as texts are numbers. */
function plain(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const list = value.map((each) => plain(each)).filter((each) => each !== undefined)
    return list.length > 0 ? list : undefined
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, each]) => [name, plain(each, name)] as const)
    const kept = members.filter(([, each]) => each !== undefined)
    return kept.length > 0 ? Object.fromEntries(kept.toSorted(byName)) : undefined
  }
  const text = typeof value === 'string' ? chosen(value) : (value ?? undefined)
  const isCount =
    /quantity|unique_items|^(?:int|float|double)_value$|(?:price|revenue|value|refund)(?:_in_usd)?$/.test(
      key,
    )
  return typeof text === 'string' && isCount && Number.isFinite(Number(text)) ? Number(text) : text
}

/** BigQuery writes the same integer as a number in Parquet and as a text in JSON. */
const textual = (value: unknown): string =>
  JSON.stringify(value, (_key, each) => (typeof each === 'number' ? String(each) : each))

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) =>
  one < other ? -1 : 1

const placeOf = (geo: ProductRecord): ProductRecord =>
  present({
    country: countryCode(textOf(geo.country) ?? ''),
    region: known(geo.region),
    city: known(geo.city),
  })

const objectOf = (value: unknown): ProductRecord => (isObject(value) ? value : {})
