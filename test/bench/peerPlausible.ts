/**
 * Plausible's tables and SQL in our ClickHouse. Plausible is AGPL: this file copies none of its code. The statements
 * are what its code generates for these questions, written by reading these files of plausible/analytics:
 * - priv/ingest_repo/structure.sql at d5340daa: the tables, without columns that no question reads or fills
 * - lib/plausible/stats/sql/query_builder.ex at 5be72ac6, expression.ex at 64c93e6a, where_builder.ex at 8f28b283,
 *   lib/plausible/stats/table_decider.ex at a00cf441 and query_optimizer.ex at 32aa9c30: overview, pages and sources
 * - lib/plausible/stats/current_visitors.ex at f09db602: live
 * - extra/lib/plausible/stats/funnel.ex at 042f3dad: the funnel
 * Sampling is off, as in its community edition. The percentages of its lists, a further read, are left out.
 */
import type { Store } from './pages.ts'
import {
  comparedReferrer,
  createDatabase,
  type Database,
  type Figures,
  funnelPaths,
  limit,
  mergeTables,
  type Peer,
  type Question,
  runSql,
  secondsSql,
  type Window,
} from './peer.ts'
import { staged } from './peersStaged.ts'

const zstd = 'CODEC(ZSTD(3))'

/** Columns that both tables have. */
const shared = `
  site_id UInt64, user_id UInt64, session_id UInt64, hostname String ${zstd}, referrer String ${zstd},
  referrer_source String ${zstd}, screen_size LowCardinality(String), operating_system LowCardinality(String),
  browser LowCardinality(String), utm_medium String ${zstd}, utm_source String ${zstd}, utm_campaign String ${zstd},
  utm_content String ${zstd}, utm_term String ${zstd}, browser_version LowCardinality(String),
  operating_system_version LowCardinality(String), subdivision1_code LowCardinality(String),
  subdivision2_code LowCardinality(String), city_geoname_id UInt32, channel LowCardinality(String),
  click_id_param LowCardinality(String), batch UInt64, source String ALIAS referrer_source`

const tables = [
  `CREATE TABLE events_v2 (
    timestamp DateTime('UTC') CODEC(Delta(4), LZ4), name LowCardinality(String), pathname String ${zstd}, ${shared},
    country_code FixedString(2), \`meta.key\` Array(String) ${zstd}, \`meta.value\` Array(String) ${zstd},
    scroll_depth UInt8, engagement_time UInt32, revenue_reporting_amount Nullable(Decimal(18, 3)),
    revenue_reporting_currency FixedString(3), INDEX minmax_batch batch TYPE minmax GRANULARITY 1
  ) ENGINE = MergeTree PARTITION BY toYYYYMM(timestamp)
  PRIMARY KEY (site_id, toDate(timestamp), name, user_id)
  ORDER BY (site_id, toDate(timestamp), name, user_id, timestamp) SAMPLE BY user_id`,
  `CREATE TABLE sessions_v2 (
    sign Int8, timestamp DateTime('UTC') CODEC(Delta(4), LZ4), start DateTime('UTC') CODEC(Delta(4), LZ4),
    is_bounce UInt8, entry_page String ${zstd}, exit_page String ${zstd}, pageviews Int32, events Int32,
    duration UInt32, ${shared}, country_code LowCardinality(FixedString(2)), exit_page_hostname String ${zstd},
    \`entry_meta.key\` Array(String) ${zstd}, \`entry_meta.value\` Array(String) ${zstd},
    INDEX minmax_timestamp timestamp TYPE minmax GRANULARITY 1, INDEX minmax_batch batch TYPE minmax GRANULARITY 1
  ) ENGINE = VersionedCollapsingMergeTree(sign, events) PARTITION BY toYYYYMM(start)
  ORDER BY (site_id, toDate(start), user_id, session_id) SAMPLE BY user_id`,
]

/** The name of an event: a scroll depth is one of its engagement events, and the others are custom events. */
const nameSql = `multiIf(event_type = 'page_view', 'pageview', event_type = 'scroll_depth', 'engagement',
  event_type = 'custom', name, event_type = 'click', 'Click', 'Copy')`

/** The columns of the session's source, by its first event: \`utm_source\` names it, otherwise the referrer. */
const sourceColumns = 'referrer, referrer_source, utm_source, utm_medium, utm_campaign'
const parameter = (name: string) =>
  `extractURLParameter(concat('https://_/?', landing_query), 'utm_${name}')`
const sourceSql = `
  substring(replaceRegexpOne(landing_referrer, '^https?://(www\\\\.)?', ''), 1, 255),
  transform(if(${parameter('source')} != '', ${parameter('source')}, domain(landing_referrer)),
    ['www.google.com', 'google', 't.co', 'duckduckgo.com', 'news.ycombinator.com', 'www.bing.com', 'facebook', 'linkedin'],
    ['Google', 'Google', 'Twitter', 'DuckDuckGo', 'Hacker News', 'Bing', 'Facebook', 'LinkedIn'],
    ${parameter('source')}),
  ${parameter('source')}, ${parameter('medium')}, ${parameter('campaign')}`

const fillEvents = `
INSERT INTO events_v2 (timestamp, name, site_id, user_id, session_id, hostname, pathname, ${sourceColumns},
  screen_size, operating_system, operating_system_version, browser, browser_version, country_code, \`meta.key\`,
  \`meta.value\`, scroll_depth)
SELECT at, ${nameSql}, 1, visitor, session, host, path, ${sourceSql}, device, os, os_version, browser, browser_version,
  country, JSONExtractKeys(properties) AS keys, arrayMap(key -> JSONExtractString(properties, key), keys),
  if(event_type = 'scroll_depth', scroll, 0)
FROM ${staged}`

const fillSessions = `
INSERT INTO sessions_v2 (session_id, sign, site_id, user_id, hostname, timestamp, start, is_bounce, entry_page,
  exit_page, exit_page_hostname, pageviews, events, duration, ${sourceColumns}, screen_size, operating_system,
  operating_system_version, browser, browser_version, country_code)
SELECT session, 1, 1, any(visitor), any(host), max(at), min(at),
  countIf(event_type != 'scroll_depth') = 1, argMinIf(path, at, event_type = 'page_view'),
  argMaxIf(path, at, event_type = 'page_view'), any(host), countIf(event_type = 'page_view'),
  countIf(event_type != 'scroll_depth'), dateDiff('second', min(at), max(at)), ${sourceSql
    .replaceAll('landing_referrer', 'any(landing_referrer)')
    .replaceAll('landing_query', 'any(landing_query)')},
  any(device), any(os), any(os_version), any(browser), any(browser_version), any(country)
FROM ${staged} GROUP BY session`

const eventsIn = ({ startMs, endMs }: Window) =>
  `site_id = 1 AND timestamp >= ${secondsSql(startMs)} AND timestamp <= ${secondsSql(endMs)}`
const sessionsIn = ({ startMs, endMs }: Window) =>
  `site_id = 1 AND start >= ${secondsSql(startMs - 7 * 86_400_000)} AND timestamp >= ${secondsSql(startMs)}
   AND start <= ${secondsSql(endMs)}`
const scaled = (sql: string) => `toUInt64(round(${sql} * any(_sample_factor)))`

const statements: Record<Question, ((window: Window) => string) | null> = {
  overview: (window) => `
    SELECT visitors, visits, pageviews, views_per_visit, bounce_rate, visit_duration
    FROM (SELECT ${scaled('uniq(user_id)')} AS visitors, ${scaled('uniq(session_id)')} AS visits,
        ${scaled("countIf(name = 'pageview')")} AS pageviews
      FROM events_v2 WHERE ${eventsIn(window)}) AS e
    CROSS JOIN (SELECT ifNotFinite(round(sum(sign * pageviews) / sum(sign), 2), 0) AS views_per_visit,
        toUInt32(greatest(ifNotFinite(round(sum(is_bounce * sign) / sum(sign) * 100), 0), 0)) AS bounce_rate,
        toUInt32(ifNotFinite(round(sum(duration * sign) / sum(sign)), 0)) AS visit_duration
      FROM sessions_v2 WHERE ${sessionsIn(window)}) AS s`,
  'top pages': (window) => `
    SELECT pathname AS page, ${scaled('uniq(user_id)')} AS visitors FROM events_v2 WHERE ${eventsIn(window)}
    GROUP BY page ORDER BY visitors DESC, page LIMIT ${limit}`,
  sources: (window) => `
    SELECT if(empty(source), 'Direct / None', source) AS name, ${scaled('uniq(user_id)')} AS visitors
    FROM sessions_v2 WHERE ${sessionsIn(window)} GROUP BY name ORDER BY visitors DESC, name LIMIT ${limit}`,
  live: () => `
    SELECT uniq(user_id) AS visitors FROM events_v2
    WHERE site_id = 1 AND timestamp >= ${secondsSql(Date.now() - 300_000)}`,
  funnel: (window) => `
    SELECT step, ${scaled('count()')} AS visitors
    FROM (SELECT user_id, any(_sample_factor) AS _sample_factor, windowFunnel(86400)(timestamp,
        ${funnelPaths.map((path) => `match(pathname, '^${path}.*$') AND name = 'pageview'`).join(', ')}, name = 'Click') AS step
      FROM events_v2 WHERE ${eventsIn(window)} GROUP BY user_id ORDER BY step DESC)
    GROUP BY step`,
  retention: null,
}

type AnswerRow = Figures & { name: string }

const figuresOf: Record<Question, (rows: AnswerRow[]) => Figures> = {
  overview: ([row]) => ({
    visitors: row!.visitors!,
    'page views': row!.pageviews!,
    sessions: row!.visits!,
  }),
  'top pages': ([row]) => ({ visitors: row!.visitors! }),
  sources: (rows) => ({
    visitors: rows.find(({ name }) => name === comparedReferrer.source)?.visitors ?? 0,
  }),
  live: ([row]) => ({ visitors: row!.visitors! }),
  funnel: (rows) => {
    const reached = (step: number) =>
      rows.reduce((sum, row) => sum + (row.step! >= step ? row.visitors! : 0), 0)
    return { 'step 1': reached(1), 'step 2': reached(2), 'step 3': reached(3) }
  },
  retention: () => ({}),
}

/** Creates Plausible's tables in the store's ClickHouse. */
export async function openPlausible({ url }: Store): Promise<Peer> {
  const database: Database = { url, name: 'peers_plausible' }
  await createDatabase(database, tables)
  let isFilled = false
  return {
    name: 'Plausible',
    source:
      'plausible/analytics query_builder.ex 5be72ac6, expression.ex 64c93e6a, where_builder.ex 8f28b283, current_visitors.ex f09db602, funnel.ex 042f3dad, structure.sql d5340daa',
    async fill() {
      await runSql(database, fillEvents)
      await runSql(database, fillSessions)
      if (!isFilled) await mergeTables(database, ['events_v2', 'sessions_v2'])
      isFilled = true
    },
    question(question, window) {
      const statement = statements[question]
      if (statement === null) return null
      return async () => figuresOf[question](await runSql<AnswerRow>(database, statement(window)))
    },
    definitions: {
      overview: 'counts are estimates (uniq)',
      funnel: 'times in whole seconds',
    },
    database: 'ClickHouse',
  }
}
