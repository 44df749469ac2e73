import type { Field } from './field.ts'

/** A parameter of the page's address, decoded as forms encode it. */
const parameterOfPage = (name: string) =>
  `nullIf(toValidUTF8(decodeURLFormComponent(extractURLParameter(page_url, '${name}'))), '')`

/** The parameters by which advertisers know a click again, as their documentation spells them. */
const clickIdParameters = [
  'gclid',
  'gbraid',
  'wbraid',
  'dclid',
  'msclkid',
  'fbclid',
  'ttclid',
  'li_fat_id',
  'twclid',
  'rdt_cid',
  'ScCid',
  'epik',
  'yclid',
].join('|')

const utm = (name: string, columnType: string, description: string): Field => ({
  name,
  columnType,
  materialized: parameterOfPage(name),
  dataType: 'Utf8',
  nullable: true,
  tier: 'web_event',
  group: 'marketing',
  counts: 'groups',
  description: `${description} The parameter ${name} of page_url.`,
})

const few = 'LowCardinality(Nullable(String))'
const many = 'Nullable(String)'

/**
 * How visitors came, as the addresses of pages and referrers say it. All of it is computed from page_url and
 * referrer_url, so events that were stored before these columns have them, too, and ingest does nothing for them.
 */
export const marketingFields: readonly Field[] = [
  utm('utm_source', few, 'Who sent the visitor: a search engine, a newsletter.'),
  utm('utm_medium', few, 'What kind of link it was: cpc, email, social.'),
  utm('utm_campaign', few, 'The campaign the link belongs to.'),
  utm('utm_term', many, 'The words that were paid for.'),
  utm('utm_content', many, 'Which of several links of a campaign it was.'),
  {
    name: 'click_id_type',
    columnType: few,
    materialized: `nullIf(extract(page_url, '[?&](${clickIdParameters})=[^&#]'), '')`,
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'marketing',
    counts: 'groups',
    description: `Which advertiser’s click id page_url has: ${clickIdParameters.replaceAll('|', ', ')}; the first of several.`,
  },
  {
    name: 'click_id',
    columnType: many,
    materialized: `nullIf(toValidUTF8(decodeURLFormComponent(extract(page_url, '[?&](?:${clickIdParameters})=([^&#]+)'))), '')`,
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'marketing',
    description: 'The click id in page_url, whose kind click_id_type names.',
  },
  {
    name: 'referrer_host',
    columnType: few,
    materialized:
      "nullIf(lower(extract(referrer_url, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)')), '')",
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'marketing',
    counts: 'groups',
    description: 'Host of referrer_url, written as page_host is.',
  },
]
