/**
 * Rybbit's tables and SQL in our ClickHouse. Rybbit is AGPL: this file copies none of its code. The statements are what
 * its code generates for these questions, written by reading these files of rybbit-io/rybbit, below server/src:
 * - db/clickhouse/schema/core.ts at f62155e2 and liteDashboard.ts at 7d893c67: the tables and views, without columns
 *   that no question reads or fills
 * - api/analytics/getOverview.ts, getLiveUsercount.ts and getRetention.ts at 3da6d480, without the condition on is_bot,
 *   a column that the tables no longer have. Later versions compute retention from a site's complete history
 * - api/analytics/getMetric.ts at 1528c3b9: pages and referrers, without the count of all values that follows
 * - api/analytics/funnels/getFunnel.ts at 3832dd49, with the conditions of funnelSteps.test.ts at 9256d738
 * Its lite dashboard, which reads prepared hours and days, is measured apart:
 * - services/dashboardRollups/schema.ts and queries.ts at 5454c975, planner.ts at 5a51fd0c, and
 *   api/analytics/lite/getMetricLite.ts at 5a8448a2: overview and pages
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
import { rollupSlices } from './peerRybbitLite.ts'
import { staged } from './peersStaged.ts'

const session = "LowCardinality(String) DEFAULT ''"
/** A plain String in its tables, which this ClickHouse refuses. The meaning is the same. */
const anyString = 'SimpleAggregateFunction(any, String)'

const tables = [
  `CREATE TABLE events (
    site_id UInt16, timestamp DateTime('UTC'), session_id String, user_id String, hostname String, pathname String,
    querystring String, url_parameters Map(String, String), page_title String, referrer String, channel String,
    browser LowCardinality(String), browser_version LowCardinality(String), operating_system LowCardinality(String),
    operating_system_version LowCardinality(String), language LowCardinality(String),
    country LowCardinality(FixedString(2)), region LowCardinality(String), city String, lat Float64, lon Float64,
    screen_width UInt16, screen_height UInt16, device_type LowCardinality(String),
    type LowCardinality(String) DEFAULT 'pageview', event_name String, props JSON, ip Nullable(String),
    timezone ${session}, identified_user_id String DEFAULT '', tag ${session}
  ) ENGINE = MergeTree PARTITION BY toYYYYMM(timestamp) ORDER BY (site_id, timestamp)`,
  `CREATE TABLE sessions_mv_target (
    site_id UInt16, session_id String, user_id ${anyString}, start_time SimpleAggregateFunction(min, DateTime('UTC')),
    end_time SimpleAggregateFunction(max, DateTime('UTC')), pageviews SimpleAggregateFunction(sum, UInt64),
    events SimpleAggregateFunction(sum, UInt64)
  ) ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(start_time) ORDER BY (site_id, session_id)`,
  `CREATE MATERIALIZED VIEW sessions_mv TO sessions_mv_target AS
    SELECT site_id, session_id, any(user_id) AS user_id, min(timestamp) AS start_time, max(timestamp) AS end_time,
      countIf(type = 'pageview') AS pageviews, count() AS events
    FROM events GROUP BY site_id, session_id`,
  `CREATE TABLE pathname_hourly_mv_target (
    site_id UInt16, event_hour DateTime('UTC'), pathname String, hostname ${anyString},
    pageviews SimpleAggregateFunction(sum, UInt64), users AggregateFunction(uniq, String),
    sessions AggregateFunction(uniq, String)
  ) ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(event_hour) ORDER BY (site_id, event_hour, pathname)`,
  `CREATE MATERIALIZED VIEW pathname_hourly_mv TO pathname_hourly_mv_target AS
    SELECT site_id, toStartOfHour(timestamp) AS event_hour, pathname, any(hostname) AS hostname,
      countIf(type = 'pageview') AS pageviews, uniqState(user_id) AS users, uniqState(session_id) AS sessions
    FROM events WHERE type = 'pageview' GROUP BY site_id, event_hour, pathname`,
  `CREATE TABLE dashboard_sessions (
    site_id UInt16, resolution LowCardinality(String), time_zone LowCardinality(String), bucket_start DateTime('UTC'),
    sessions UInt64, pageviews UInt64, users AggregateFunction(uniqCombined64, String), bounced_sessions UInt64,
    total_session_duration_seconds UInt64
  ) ENGINE = MergeTree PARTITION BY toYYYYMM(bucket_start)
  ORDER BY (site_id, resolution, time_zone, bucket_start)
  SETTINGS index_granularity = 64, min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0`,
]

const fillEvents = `
INSERT INTO events (site_id, timestamp, session_id, user_id, hostname, pathname, querystring, url_parameters, page_title,
  referrer, channel, browser, browser_version, operating_system, operating_system_version, language, country,
  screen_width, device_type, type, event_name, props, ip)
SELECT 1, at, substring(lower(leftPad(hex(session), 16, '0')), 3), lower(leftPad(hex(visitor), 16, '0')), host, path,
  query, extractKeyValuePairs(query, '=', '&'), title, referrer,
  multiIf(query LIKE '%utm_medium=cpc%', 'Paid Search', referrer = '', 'Direct',
    match(referrer, 'google|bing|duckduckgo'), 'Organic Search', 'Referral'),
  browser, browser_version, os, os_version, language, country, width, device,
  transform(event_type, ['page_view', 'click', 'copy'], ['pageview', 'button_click', 'copy'], 'custom_event'),
  if(event_type = 'scroll_depth', 'scroll_depth', name), if(properties = '', '{}', properties), ip
FROM ${staged} ORDER BY at`

/** SQL of the hourly refresh of the lite dashboard's table. */
const refreshSessions = `
INSERT INTO dashboard_sessions
SELECT site_id, period.1 AS resolution, 'UTC', period.2 AS bucket_start, sum(s), sum(p), uniqCombined64MergeState(u),
  sum(b), sum(d)
FROM (SELECT site_id, toStartOfHour(start_time) AS session_hour, count() AS s, sum(pageviews) AS p,
    uniqCombined64State(user_id) AS u, countIf(pageviews = 1) AS b, sum(toUInt64(end_time - start_time)) AS d
  FROM sessions_mv_target FINAL GROUP BY site_id, session_hour)
ARRAY JOIN [('hour', session_hour), ('day', toStartOfDay(session_hour)),
  ('month', toDateTime(toStartOfMonth(session_hour), 'UTC'))] AS period
GROUP BY site_id, resolution, bucket_start`

const within = ({ startMs, endMs }: Window, column = 'timestamp') =>
  `site_id = 1 AND ${column} >= ${secondsSql(startMs)} AND ${column} < ${secondsSql(endMs)}`

const pageStep = (path: string) => `type = 'pageview' AND match(pathname, '^${path}.*$')`
const steps = [...funnelPaths.map(pageStep), "type = 'button_click'"]

const share = (count: string) => `round(${count} / sum(${count}) OVER () * 100, 2)`

const statements: Record<Question, (window: Window) => string> = {
  overview: (window) => `
    WITH views AS (SELECT session_id, countIf(type = 'pageview') AS all_views
        FROM events WHERE ${within(window)} GROUP BY session_id),
      stats AS (SELECT session_id, anyLast(user_id) AS last_user, min(timestamp) AS started, max(timestamp) AS ended,
          countIf(type = 'pageview') AS met_views
        FROM events WHERE ${within(window)} GROUP BY session_id)
    SELECT count() AS sessions, avg(v.all_views) AS pages_per_session,
      sumIf(1, v.all_views = 1) / count() * 100 AS bounce_rate, avg(s.ended - s.started) AS session_duration,
      sum(s.met_views) AS pageviews, count(DISTINCT s.last_user) AS users
    FROM stats AS s LEFT JOIN views AS v ON s.session_id = v.session_id`,
  'top pages': (window) => `
    WITH counts AS (SELECT session_id, count() AS views FROM events
        WHERE ${within(window)} AND type = 'pageview' GROUP BY session_id),
      times AS (SELECT e.session_id, e.pathname, e.hostname, e.timestamp, c.views,
          leadInFrame(e.timestamp) OVER (PARTITION BY e.session_id ORDER BY e.timestamp
            ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next_timestamp
        FROM events AS e LEFT JOIN counts AS c ON e.session_id = c.session_id WHERE ${within(window)}),
      durations AS (SELECT *, if(isNull(next_timestamp), 0, dateDiff('second', timestamp, next_timestamp)) AS seconds
        FROM times),
      paths AS (SELECT pathname, anyHeavy(hostname) AS top_hostname, count() AS visits,
          count(DISTINCT session_id) AS found, avg(if(seconds < 0, 0, if(seconds > 1800, 1800, seconds))) AS on_page,
          countIf(DISTINCT session_id, views = 1) AS bounced
        FROM durations GROUP BY pathname)
    SELECT pathname AS page, top_hostname, found AS sessions, ${share('found')} AS percentage, visits,
      ${share('visits')} AS visits_percentage, on_page, round(bounced / nullIf(found, 0) * 100, 2) AS bounce_rate
    FROM paths ORDER BY sessions DESC LIMIT ${limit}`,
  sources: (window) => `
    WITH data AS (SELECT argMin(domainWithoutWWW(referrer), timestamp) AS name, session_id,
        countIf(type = 'pageview') AS views
      FROM events WHERE ${within(window)} AND domainWithoutWWW(referrer) IS NOT NULL
        AND domainWithoutWWW(referrer) <> '' GROUP BY session_id)
    SELECT name, count(DISTINCT session_id) AS sessions, ${share('count(DISTINCT session_id)')} AS percentage,
      count() AS pageviews, ${share('count()')} AS pageviews_percentage,
      round(countIf(DISTINCT session_id, views = 1) / nullIf(count(DISTINCT session_id), 0) * 100, 2) AS bounce_rate
    FROM data GROUP BY name ORDER BY sessions DESC LIMIT ${limit}`,
  live: () => `
    SELECT count(DISTINCT session_id) AS sessions FROM events
    WHERE timestamp > now() - INTERVAL 5 MINUTE AND site_id = 1`,
  funnel: (window) => `
    WITH actions AS (SELECT session_id, timestamp, pathname, event_name, type, props, hostname
        FROM events WHERE ${within(window)}),
      step1 AS (SELECT DISTINCT session_id, min(timestamp) AS reached FROM actions WHERE ${steps[0]} GROUP BY session_id),
      ${[2, 3]
        .map(
          (step) => `step${step} AS (SELECT DISTINCT s.session_id, min(a.timestamp) AS reached
        FROM step${step - 1} AS s JOIN actions AS a ON s.session_id = a.session_id
        WHERE a.timestamp > s.reached AND ${steps[step - 1]} GROUP BY s.session_id)`,
        )
        .join(', ')},
      counts AS (${[1, 2, 3]
        .map(
          (step) =>
            `SELECT ${step} AS step, count(DISTINCT session_id) AS sessions FROM step${step}`,
        )
        .join(' UNION ALL ')})
    SELECT c.step AS step, c.sessions AS sessions, round(c.sessions * 100. / f.sessions, 2) AS conversion_rate,
      if(c.step = 1, 0, round((1 - c.sessions / p.sessions) * 100, 2)) AS dropoff_rate
    FROM counts AS c CROSS JOIN (SELECT sessions FROM counts WHERE step = 1) AS f
    LEFT JOIN (SELECT step + 1 AS next_step, sessions FROM counts WHERE step < 3) AS p ON c.step = p.next_step
    ORDER BY c.step`,
  retention: ({ days }) => {
    const user = "coalesce(nullIf(identified_user_id, ''), user_id)"
    const since = `site_id = 1 AND timestamp >= addDays(today(), -${days - 1})`
    return `
    WITH firsts AS (SELECT ${user} AS who, toStartOfWeek(min(timestamp), 1) AS cohort FROM events WHERE ${since} GROUP BY who),
      activity AS (SELECT DISTINCT ${user} AS who, toStartOfWeek(timestamp, 1) AS active FROM events WHERE ${since}),
      retained AS (SELECT f.cohort AS cohort, dateDiff('week', f.cohort, a.active) AS later, count(DISTINCT a.who) AS users
        FROM firsts AS f JOIN activity AS a ON f.who = a.who WHERE a.active >= f.cohort GROUP BY cohort, later),
      sizes AS (SELECT cohort, count(DISTINCT who) AS total FROM firsts GROUP BY cohort)
    SELECT r.cohort AS cohort, r.later AS later, s.total AS total, r.users AS users,
      round(r.users * 100. / s.total, 2) AS percentage
    FROM retained AS r JOIN sizes AS s ON r.cohort = s.cohort ORDER BY cohort DESC, later`
  },
}

/** The statements of its lite dashboard; its other reports are those of the dashboard. */
const liteStatements: Partial<Record<Question, (window: Window) => string>> = {
  overview: (window) => `
    SELECT sessions, pageviews, users, if(sessions > 0, pageviews / sessions, 0) AS pages_per_session,
      if(sessions > 0, bounced * 100. / sessions, 0) AS bounce_rate,
      if(sessions > 0, seconds / sessions, 0) AS session_duration
    FROM (SELECT sum(sessions) AS sessions, sum(pageviews) AS pageviews, uniqCombined64Merge(users) AS users,
        sum(bounced_sessions) AS bounced, sum(total_session_duration_seconds) AS seconds
      FROM dashboard_sessions WHERE site_id = 1 AND (${rollupSlices(window)}))`,
  'top pages': (window) => `
    SELECT page, hostname, pageviews, sessions, round(sessions * 100. / sum(sessions) OVER (), 2) AS percentage,
      round(pageviews * 100. / sum(pageviews) OVER (), 2) AS pageviews_percentage, count() OVER () AS total
    FROM (SELECT pathname AS page, any(hostname) AS hostname, sum(pageviews) AS pageviews, uniqMerge(sessions) AS sessions
      FROM pathname_hourly_mv_target WHERE ${within(window, 'event_hour')} GROUP BY pathname)
    ORDER BY sessions DESC, page LIMIT ${limit}`,
}

type AnswerRow = Figures & { name: string }

const figuresOf: Record<Question, (rows: AnswerRow[]) => Figures> = {
  overview: ([row]) => ({
    visitors: row!.users!,
    'page views': row!.pageviews!,
    sessions: row!.sessions!,
  }),
  // Its dashboard counts all events on a page as visits, its lite dashboard page views.
  'top pages': ([row]) => ({
    sessions: row!.sessions!,
    ...(row!.visits === undefined ? { 'page views': row!.pageviews! } : { events: row!.visits! }),
  }),
  sources: (rows) => ({
    sessions: rows.find(({ name }) => name === comparedReferrer.domain)?.sessions ?? 0,
  }),
  live: ([row]) => ({ sessions: row!.sessions! }),
  funnel: (rows) => Object.fromEntries(rows.map((row) => [`step ${row.step}`, row.sessions!])),
  retention: (rows) => {
    const sum = (later: number) =>
      rows.reduce((all, row) => all + (row.later === later ? row.users! : 0), 0)
    return { visitors: sum(0), 'returned after a week': sum(1) }
  },
}

/** Creates Rybbit's tables in the store's ClickHouse; the second product is its lite dashboard on the same tables. */
export async function openRybbit({ url }: Store): Promise<[rybbit: Peer, lite: Peer]> {
  const database: Database = { url, name: 'peers_rybbit' }
  await createDatabase(database, tables)
  let isFilled = false
  const ask = (question: Question, sql: string) => async () =>
    figuresOf[question](await runSql<AnswerRow>(database, sql))
  const rybbit: Peer = {
    name: 'Rybbit',
    source:
      'rybbit-io/rybbit getOverview.ts, getLiveUsercount.ts and getRetention.ts 3da6d480, getMetric.ts 1528c3b9, getFunnel.ts 3832dd49, core.ts f62155e2',
    async fill() {
      await runSql(database, fillEvents)
      await runSql(database, 'TRUNCATE TABLE dashboard_sessions')
      await runSql(database, refreshSessions)
      if (!isFilled)
        await mergeTables(database, ['events', 'sessions_mv_target', 'pathname_hourly_mv_target'])
      isFilled = true
    },
    question: (question, window) => ask(question, statements[question](window)),
    definitions: {
      'top pages': 'counts sessions, and computes the time on each page',
      sources: 'counts sessions, by their first referrer',
      live: 'counts sessions of five minutes',
      funnel: 'counts sessions: steps within one session, at times in whole seconds',
    },
    database: 'ClickHouse',
  }
  const lite: Peer = {
    ...rybbit,
    name: 'Rybbit’s lite dashboard',
    source:
      'rybbit-io/rybbit dashboardRollups/queries.ts and schema.ts 5454c975, planner.ts 5a51fd0c, getMetricLite.ts 5a8448a2, liteDashboard.ts 7d893c67',
    fill: async () => {},
    question(question, window) {
      const statement = liteStatements[question]
      return statement ? ask(question, statement(window)) : null
    },
    definitions: {
      overview: 'an hour old at most; counts are estimates (uniqCombined64)',
      'top pages': 'counts are estimates (uniq)',
    },
  }
  return [rybbit, lite]
}
