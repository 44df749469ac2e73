import { isUuid } from '../../../../schemas/uuid.ts'
import { openFile } from '../../../identity/load/source.ts'
import { isObject } from '../../../platform/json.ts'
import { StartError } from '../../../platform/startError.ts'
import { withAttribution } from './attribution.ts'
import { deviceOf, known } from './names.ts'
import {
  countryOf,
  type Product,
  type ProductOptions,
  type ProductRecord,
  type ProductRow,
  present,
  screenOf,
  skip,
  textOf,
} from './product.ts'

/** Umami 2: the table website_event as CSV, with columns of session and event_data (collector/docs/migrating.md). */
export function createUmami(options: ProductOptions): Product {
  const { site, host } = options
  if (!isUuid(site))
    throw new StartError('--site must be the UUID of the website in Umami (website_id)')
  return {
    name: 'umami',
    facts: [site, host ?? ''],
    mapping: [
      ['session_id', 'cookie_id'],
      ['event_id', 'event_id'],
      ['created_at', 'timestamp'],
      ['hostname, url_path, url_query', 'page_url; --host names the host of events without one'],
      ['referrer_domain, referrer_path, referrer_query', 'referrer_url'],
      ['utm_source, gclid, … as columns', 'parameters of page_url that it lacks'],
      ['event_type 1', 'page_view with page_title'],
      ['event_type 2', 'custom with event_name; event_data, a JSON object, are the properties'],
      ['other event types', 'skipped'],
      ['browser, os, device, screen', 'device columns'],
      ['country, region or subdivision1, city, language', 'country, region, city, language'],
    ],
    fields,
    open: openFile,
    rowsOf: (record) => [rowOf(record, site.toLowerCase(), host)],
  }
}

const campaignColumns = ['source', 'medium', 'campaign', 'term', 'content'] as const
const clickIdColumns = ['gclid', 'fbclid', 'msclkid', 'ttclid', 'li_fat_id', 'twclid'] as const
/** Columns of Umami that Footfall stores, or has no use for. */
const fields =
  `website_id session_id visit_id event_id created_at hostname url_path url_query referrer_path referrer_query
  referrer_domain page_title event_type event_name event_data tag browser os device screen language country region
  subdivision1 city job_id ${campaignColumns.map((name) => `utm_${name}`).join(' ')} ${clickIdColumns.join(' ')}`.split(
    /\s+/,
  )

function rowOf(record: ProductRecord, site: string, fallback: string | null): ProductRow {
  if (textOf(record.website_id)?.toLowerCase() !== site) return skip(`website_id is not ${site}`)
  const host = textOf(record.hostname) ?? fallback
  if (!host) return skip('hostname is empty: name the host of the site with --host')
  const path = textOf(record.url_path) ?? '/'
  const page_url = withAttribution(
    `https://${host}${withMark('/', path)}${withMark('?', record.url_query)}`,
    {
      ...Object.fromEntries(campaignColumns.map((name) => [name, record[`utm_${name}`]])),
      clickIds: Object.fromEntries(clickIdColumns.map((name) => [name, record[name]])),
    },
  )
  const event = eventOf(record, page_url)
  if ('unreadable' in event) return event
  return {
    ...event,
    ...present({
      event_id: record.event_id,
      cookie_id: record.session_id,
      timestamp: record.created_at,
      ...deviceOf(record),
      language: record.language,
      country: countryOf(record.country),
      region: known(record.region ?? record.subdivision1),
      city: known(record.city),
      ...screenOf(record.screen),
    }),
  }
}

function eventOf(record: ProductRecord, page_url: string): ProductRecord | { unreadable: string } {
  const type = String(record.event_type ?? '')
  if (type === '1')
    return {
      event_type: 'page_view',
      ...present({ page_url, title: record.page_title, referrer_url: referrerUrl(record) }),
    }
  if (type !== '2') return skip(`Footfall has no event for event_type ${type.slice(0, 20)}`)
  const properties = propertiesOf(record.event_data)
  if (!properties) return skip('event_data is not a JSON object')
  const name = textOf(record.event_name)
  const tag = textOf(record.tag)
  const all = tag ? { ...properties, tag } : properties
  return { event_type: 'custom', event_data: { url: page_url, name, properties: all } }
}

/** The properties of an event: none, an object, or its text in CSV; null for anything else. */
function propertiesOf(data: unknown): ProductRecord | null {
  if (data === undefined || data === null) return {}
  if (isObject(data)) return data
  try {
    const read: unknown = JSON.parse(String(data))
    return isObject(read) ? read : null
  } catch {
    return null
  }
}

function referrerUrl(record: ProductRecord): string | undefined {
  const domain = textOf(record.referrer_domain)
  const path = withMark('/', record.referrer_path)
  return domain && `https://${domain}${path}${withMark('?', record.referrer_query)}`
}

/** A part of an address that begins with its mark, or nothing. */
function withMark(mark: '/' | '?', value: unknown): string {
  const text = textOf(value)
  if (!text) return ''
  return text.startsWith(mark) ? text : `${mark}${text}`
}
