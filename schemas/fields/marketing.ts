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
  description: `${description} From the parameter ${name} of page_url.`,
})

const few = 'LowCardinality(Nullable(String))'
const many = 'Nullable(String)'

/**
 * How visitors came, according to the URLs of pages and referrers. All columns are computed from page_url and
 * referrer_url. So events stored before these columns existed also have them, and ingestion does no work for
 * them.
 */
export const marketingFields: readonly Field[] = [
  utm('utm_source', few, 'Source of the visit, such as a search engine or a newsletter.'),
  utm('utm_medium', few, 'Medium of the link: cpc, email, social.'),
  utm('utm_campaign', few, 'Campaign of the link.'),
  utm('utm_term', many, 'Paid search terms.'),
  utm('utm_content', many, 'Distinguishes several links of one campaign.'),
  {
    name: 'click_id_type',
    columnType: few,
    materialized: `nullIf(extract(page_url, '[?&](${clickIdParameters})=[^&#]'), '')`,
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'marketing',
    counts: 'groups',
    description: `Name of the first click id parameter in page_url: ${clickIdParameters.replaceAll('|', ', ')}.`,
  },
  {
    name: 'click_id',
    columnType: many,
    materialized: `nullIf(toValidUTF8(decodeURLFormComponent(extract(page_url, '[?&](?:${clickIdParameters})=([^&#]+)'))), '')`,
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'marketing',
    description: 'Click id in page_url. `click_id_type` names its parameter.',
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
    description: 'Host of referrer_url, in the form of page_host.',
  },
]
