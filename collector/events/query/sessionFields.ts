import { type Field, fieldNamed } from '../../../schemas/fields.ts'
import { outsideReferrer } from './sessionSplit.ts'
import {
  adsSuffix,
  clickIdSources,
  kindsBySource,
  paidSources,
  type SiteKind,
  sourceNames,
} from './trafficSources.ts'

/** Channels of Google Analytics 4's default channel group, and AI assistants, in the order of evaluation. */
const channels = [
  'Direct',
  'Cross-network',
  'Paid shopping',
  'Paid search',
  'Paid social',
  'Paid video',
  'Display',
  'Paid other',
  'AI assistants',
  'Organic shopping',
  'Organic social',
  'Organic video',
  'Organic search',
  'Email',
  'Affiliates',
  'Audio',
  'SMS',
  'Mobile push notifications',
  'Referral',
  'Unassigned',
] as const

/** The source of sessions without a campaign, click id or outside referrer. */
export const direct = 'Direct'

/** Fields of events whose value for a session comes from its first event. */
const ownFields = [
  'referrer_host',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'country',
  'region',
  'city',
  'language',
  'device_type',
  'browser',
  'os',
]

const computed = (name: string, description: string, more: Partial<Field> = {}): Field => ({
  name,
  columnType: 'Nullable(String)',
  dataType: 'Utf8',
  nullable: true,
  tier: 'web_event',
  group: 'marketing',
  description,
  ...more,
})

const byName: ReadonlyMap<string, Field> = new Map(
  [
    computed('channel', 'How the session came.', { nullable: false, values: channels }),
    computed('source', `The named source of the session; ${direct} without one.`, {
      nullable: false,
    }),
    computed('entry_page', 'page_path of the first page view.'),
    computed('exit_page', 'page_path of the last page view.'),
    ...ownFields.map((name) => fieldNamed(name)!),
  ].map((field) => [field.name, field]),
)

/** The fields that figures read from sessions instead of events. */
export const sessionFieldNames: readonly string[] = [...byName.keys()]

/** Those that a session has from its first event. */
export const firstEventFields: readonly string[] = sessionFieldNames.filter(
  (name) => name !== 'entry_page' && name !== 'exit_page',
)

export const sessionFieldNamed = (name: string): Field | undefined => byName.get(name)

/** The columns of an event that tell where its session came from. */
const originColumns: Readonly<Record<string, readonly string[]>> = {
  source: ['utm_source', 'click_id_type', 'referrer_host'],
  channel: ['utm_source', 'utm_medium', 'utm_campaign', 'click_id_type', 'referrer_host'],
}

/** Returns SQL of a column of events as text. */
const columnSql = (name: string): string =>
  `CAST(${name === 'referrer_host' ? outsideReferrer : name}, 'Nullable(String)')`

/**
 * Returns SQL over rows of events: the value of a field that a session has from its first event (firstEventFields). Most
 * events have no origin, and the names of sources are searched for the others only.
 */
export function fieldOfEvent(name: string): string {
  if (name === 'referrer_host') return outsideReferrer
  const columns = originColumns[name]
  if (!columns) return name
  const isDirect = columns.map((column) => `isNull(${columnSql(column)})`).join(' AND ')
  const named =
    name === 'channel'
      ? channelSql(columnSql)
      : `ifNull(nullIf(${originSql(columnSql)}, ''), ${literal(direct)})`
  return `if(${isDirect}, ${literal(direct)}, ${named})`
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
const list = (texts: readonly string[]) => `[${texts.map(literal).join(', ')}]`
const lookUp = (sql: string, pairs: readonly (readonly [string, string])[], fallback: string) =>
  `transform(${sql}, ${list(pairs.map(([from]) => from))}, ${list(pairs.map(([, to]) => to))}, ${fallback})`

/** Parts of a host before the name of the site: a country, a language, or the kind of device. */
const hostPrefix =
  '^(?:(?:www|m|mobile|wap|search|r|websearch|images?|lite|html|start|safe|lens|news|ntp|malaysia|espanol|[a-z]{2}(?:-[a-z]{2})?)\\\\.)+'
const brandHost = '^([a-z]+)\\\\.(?:com|net|[a-z]{2}|com?\\\\.[a-z]{2})$'

const withoutAds = (text: string) => `replaceRegexpOne(${text}, ${literal(adsSuffix)}, '')`

/** Returns SQL of the name of a host, or of a value of utm_source; without a name the text itself. */
function named(text: string): string {
  const hosts = [...sourceNames.hosts, ...sourceNames.aliases]
  const site = `replaceRegexpOne(lower(text), '${hostPrefix}', '')`
  const brand = lookUp(`extract(${site}, '${brandHost}')`, sourceNames.brands, "''")
  const domain = lookUp('cutToFirstSignificantSubdomain(lower(text))', sourceNames.domains, brand)
  const name = lookUp(
    'lower(text)',
    hosts,
    `if(position(text, '.') > 0, ${lookUp(site, sourceNames.hosts, domain)}, ${lookUp(withoutAds('lower(text)'), sourceNames.aliases, "''")})`,
  )
  return `arrayMap(text -> ifNull(nullIf(${name}, ''), replaceRegexpOne(text, '^www\\\\.', '')), [${text}])[1]`
}

type First = (column: string) => string
const text = (sql: string) => `ifNull(${sql}, '')`
const clickName = (first: First) =>
  lookUp(
    text(first('click_id_type')),
    clickIdSources.map(({ type, name }) => [type, name]),
    "''",
  )

/** Returns SQL of the named source; empty without one. */
const originSql = (first: First): string =>
  named(`multiIf(${text(first('utm_source'))} != '', ${text(first('utm_source'))},
    ${clickName(first)} != '', ${clickName(first)}, ${text(first('referrer_host'))})`)

function channelSql(first: First): string {
  const value = (column: string) => `lower(${text(first(column))})`
  const [utmSource, utmMedium] = [value('utm_source'), value('utm_medium')]
  const clickMedium = lookUp(
    text(first('click_id_type')),
    clickIdSources.map(({ type, medium: of }) => [type, of]),
    "''",
  )
  // A paid click stays paid if the link names its source. Unpaid links have click ids, too.
  const medium = `multiIf(${utmMedium} != '', ${utmMedium},
    ${utmSource} IN (${paidSources.map(literal).join(', ')})
      OR (match(${utmSource}, ${literal(adsSuffix)}) AND ${withoutAds(utmSource)} IN (${sourceNames.aliases.map(([alias]) => literal(alias)).join(', ')})), 'cpc',
    ${utmSource} = '' OR ${clickMedium} IN ('cpc', 'display'), ${clickMedium}, '')`
  const isTagged = `(${utmSource} != '' OR ${utmMedium} != '' OR ${value('utm_campaign')} != '' OR ${value('click_id_type')} != '')`
  const kindOf = lookUp('lower(source)', kindsBySource, "''")
  const isOf = (kind: SiteKind) => `kind = ${literal(kind)}`
  const hasMedium = (...mediums: string[]) => `medium IN (${mediums.map(literal).join(', ')})`
  const isPaid = "match(medium, '^(.*cp.*|ppc|retargeting|paid.*)$')"
  const isShop = `(${isOf('shopping')} OR match(campaign, '^(.*(([^a-df-z]|^)shop|shopping).*)$'))`
  const isReferral = hasMedium('referral', 'app', 'link')
  const emails = ['email', 'e-mail', 'e_mail', 'e mail']
  const rules: Record<Exclude<(typeof channels)[number], 'Unassigned'>, string> = {
    Direct: "source = '' AND NOT tagged",
    'Cross-network': "position(campaign, 'cross-network') > 0",
    'Paid shopping': `${isShop} AND ${isPaid}`,
    'Paid search': `${isOf('search')} AND ${isPaid}`,
    'Paid social': `${isOf('social')} AND ${isPaid}`,
    'Paid video': `${isOf('video')} AND ${isPaid}`,
    Display: hasMedium('display', 'banner', 'expandable', 'interstitial', 'cpm'),
    'Paid other': isPaid,
    'AI assistants': isOf('ai'),
    'Organic shopping': isShop,
    'Organic social': `${isOf('social')} OR ${hasMedium('social', 'social-network', 'social-media', 'sm', 'social network', 'social media')}`,
    'Organic video': `${isOf('video')} OR position(medium, 'video') > 0`,
    'Organic search': `${isOf('search')} OR medium = 'organic'`,
    Email: `(${isOf('email')} OR position(lower(source), 'newsletter') > 0) AND NOT ${isReferral} OR ${hasMedium(...emails)}`,
    Affiliates: "medium = 'affiliate'",
    Audio: "medium = 'audio'",
    SMS: "lower(source) = 'sms' OR medium = 'sms'",
    'Mobile push notifications':
      "endsWith(medium, 'push') OR match(medium, 'mobile|notification') OR lower(source) = 'firebase'",
    Referral: `${isReferral} OR NOT tagged`,
  }
  const decided = Object.entries(rules).map(([channel, rule]) => `${rule}, ${literal(channel)}`)
  return `arrayMap((source, medium, campaign, tagged) -> arrayMap(kind -> multiIf(${decided.join(',\n    ')}, 'Unassigned'), [${kindOf}])[1],
    [${originSql(first)}], [${medium}], [${value('utm_campaign')}], [${isTagged}])[1]`
}
