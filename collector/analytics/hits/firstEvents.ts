/** SQL of the fields that a session has from its first event: source and channel, and columns of the event. */
import { type channels, direct, firstEventFields } from '../../events/query/sessionFields.ts'
import { outsideReferrer } from '../../events/query/sessionSplit.ts'
import {
  adsSuffix,
  clickIdSources,
  kindsBySource,
  paidSources,
  type SiteKind,
  sourceNames,
} from '../../events/query/trafficSources.ts'

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
const list = (texts: readonly string[]) => texts.map(literal).join(', ')
const lookUp = (sql: string, pairs: readonly (readonly [string, string])[], fallback = "''") =>
  `transform(${sql}, [${list(pairs.map(([from]) => from))}], [${list(pairs.map(([, to]) => to))}], ${fallback})`

/** Parts of a host before the name of the site: a country, a language, or the kind of device. */
const hostPrefix =
  '^(?:(?:www|m|mobile|wap|search|r|websearch|images?|lite|html|start|safe|lens|news|ntp|malaysia|espanol|[a-z]{2}(?:-[a-z]{2})?)\\\\.)+'
const brandHost = '^([a-z]+)\\\\.(?:com|net|[a-z]{2}|com?\\\\.[a-z]{2})$'

const withoutAds = (sql: string) => `replaceRegexpOne(${sql}, ${literal(adsSuffix)}, '')`
const mediums = clickIdSources.map(({ type, medium }): [string, string] => [type, medium])
const advertisers = clickIdSources.map(({ type, name }): [string, string] => [type, name])

const { hosts, domains, brands, aliases } = sourceNames
const domainName = lookUp(
  'cutToFirstSignificantSubdomain(host)',
  domains,
  lookUp(`extract(site, '${brandHost}')`, brands),
)
const siteName = lookUp('site', hosts, domainName)
const aliasName = lookUp(withoutAds('host'), aliases)

/** An unpaid link has a click id, too. A paid click stays paid if the link names its source. */
const mediumSql = `multiIf(tagged_medium != '', tagged_medium,
      lower(tag) IN (${list(paidSources)}) OR match(lower(tag), ${literal(adsSuffix)}) AND ${withoutAds('lower(tag)')} IN (${list(aliases.map(([alias]) => alias))}), 'cpc',
      tag = '' OR click_medium IN ('cpc', 'display'), click_medium, '')`

const isOf = (kind: SiteKind) => `kind = ${literal(kind)}`
const hasMedium = (...names: string[]) => `medium IN (${list(names)})`

/** The rules of channels over rows of `judged`. The first that is true decides. */
const rules: Record<Exclude<(typeof channels)[number], 'Unassigned'>, string> = {
  Direct: "source = '' AND NOT is_tagged",
  'Cross-network': "position(campaign, 'cross-network') > 0",
  'Paid shopping': 'is_shop AND is_paid',
  'Paid search': `${isOf('search')} AND is_paid`,
  'Paid social': `${isOf('social')} AND is_paid`,
  'Paid video': `${isOf('video')} AND is_paid`,
  Display: hasMedium('display', 'banner', 'expandable', 'interstitial', 'cpm'),
  'Paid other': 'is_paid',
  'AI assistants': isOf('ai'),
  'Organic shopping': 'is_shop',
  'Organic social': `${isOf('social')} OR ${hasMedium('social', 'social-network', 'social-media', 'sm', 'social network', 'social media')}`,
  'Organic video': `${isOf('video')} OR position(medium, 'video') > 0`,
  'Organic search': `${isOf('search')} OR medium = 'organic'`,
  Email: `(${isOf('email')} OR position(source_lower, 'newsletter') > 0) AND NOT is_referral OR ${hasMedium('email', 'e-mail', 'e_mail', 'e mail')}`,
  Affiliates: "medium = 'affiliate'",
  Audio: "medium = 'audio'",
  SMS: "source_lower = 'sms' OR medium = 'sms'",
  'Mobile push notifications':
    "endsWith(medium, 'push') OR match(medium, 'mobile|notification') OR source_lower = 'firebase'",
  Referral: 'is_referral OR NOT is_tagged',
}
const channelSql = Object.entries(rules).map(([channel, rule]) => `${rule}, ${literal(channel)}`)

const ownFields = firstEventFields.filter((name) => name !== 'source' && name !== 'channel')
const textOf = (column: string) => `CAST(ifNull(${column}, ''), 'String')`

/**
 * Returns steps of a WITH clause, each with a row for each event.
 *
 * - facts: what links, click ids and referrers tell
 * - clicks: the advertiser and the medium of the click id
 * - texts: the text that names the source: utm_source, otherwise the advertiser, otherwise the referrer's host
 * - sites: the text, if it is a host, without a prefix such as `www.`
 * - names: the name of the source, if trafficSources.ts knows it
 * - sources: source and medium, and whether the link says anything about them
 * - judged: the values that the rules of channels compare
 * - first_events: the fields of firstEventFields, their names preceded by `_`.
 *
 * A step computes each text once; within one SELECT, ClickHouse would analyze it again wherever it is used.
 */
export const firstEventSteps = (
  fromEvents: string,
): string => `-- What links, click ids and referrers say; empty without.
facts AS (
  SELECT project_id, event_id, ${ownFields.map((name) => `${name === 'referrer_host' ? outsideReferrer : name} AS _${name}`).join(', ')},
    ${textOf('utm_source')} AS tag, lower(${textOf('utm_medium')}) AS tagged_medium, lower(${textOf('utm_campaign')}) AS campaign,
    ${textOf('click_id_type')} AS click
  ${fromEvents}
),
clicks AS (
  SELECT *, ${lookUp('click', advertisers)} AS advertiser,
    ${lookUp('click', mediums)} AS click_medium
  FROM facts
),
texts AS (
  SELECT *, multiIf(tag != '', tag, advertiser != '', advertiser, ${textOf('_referrer_host')}) AS text, lower(text) AS host
  FROM clicks
),
sites AS (
  SELECT *, replaceRegexpOne(host, '${hostPrefix}', '') AS site
  FROM texts
),
-- The names of hosts, and of values of utm_source.
names AS (
  SELECT *, ${lookUp('host', [...hosts, ...aliases], `if(position(host, '.') > 0, ${siteName}, ${aliasName})`)} AS name
  FROM sites
),
sources AS (
  SELECT *, if(name = '', replaceRegexpOne(text, '^www\\\\.', ''), name) AS source,
    ${mediumSql} AS medium,
    tag != '' OR tagged_medium != '' OR campaign != '' OR click != '' AS is_tagged
  FROM names
),
judged AS (
  SELECT *, lower(source) AS source_lower, ${lookUp('lower(source)', kindsBySource)} AS kind,
    match(medium, '^(.*cp.*|ppc|retargeting|paid.*)$') AS is_paid, ${hasMedium('referral', 'app', 'link')} AS is_referral,
    kind = 'shopping' OR match(campaign, '^(.*(([^a-df-z]|^)shop|shopping).*)$') AS is_shop
  FROM sources
),
first_events AS (
  SELECT project_id, event_id AS first_event_id, ${ownFields.map((name) => `_${name}`).join(', ')}, if(source = '', ${literal(direct)}, source) AS _source,
    multiIf(${channelSql.join(',\n    ')}, 'Unassigned') AS _channel
  FROM judged
)`
