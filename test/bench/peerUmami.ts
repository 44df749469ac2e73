/**
 * Umami's tables and SQL in our PostgreSQL. Umami is MIT. The statements are what its code generates for these
 * questions, written by reading these files of umami-software/umami, below src/queries/sql if not stated:
 * - prisma/schema.prisma at 33cb195f, and prisma/migrations/27_optimize_website_event_indexes at 4de2d906: the tables
 *   and their indexes
 * - getWebsiteStats.ts at 0a0c1f27 and pageviews/getPageviewMetrics.ts at 9e3c6460: overview, pages and referrers
 * - getActiveVisitors.ts at 2ffde37f: live
 * - funnels/getFunnel.ts at ec0ff503 and retention/getRetention.ts at f28fb010
 * The tables are not logged, which makes loading faster and changes no read.
 */
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import type { Store } from './pages.ts'
import {
  comparedReferrer,
  type Figures,
  funnelPaths,
  limit,
  type Peer,
  type Question,
  type Window,
} from './peer.ts'
import { staged } from './peersStaged.ts'

const website = '00000000-0000-4000-8000-000000000001'

const tables = `
CREATE UNLOGGED TABLE session (
  session_id uuid NOT NULL, website_id uuid NOT NULL, browser varchar(20), os varchar(20), device varchar(20),
  screen varchar(11), language varchar(35), country char(2), region varchar(20), city varchar(50),
  distinct_id varchar(50), created_at timestamptz(6) DEFAULT now());
CREATE UNLOGGED TABLE website_event (
  event_id uuid NOT NULL, website_id uuid NOT NULL, session_id uuid NOT NULL, visit_id uuid NOT NULL,
  created_at timestamptz(6) DEFAULT now(), url_path varchar(500) NOT NULL, url_query varchar(500),
  utm_source varchar(255), utm_medium varchar(255), utm_campaign varchar(255), utm_content varchar(255),
  utm_term varchar(255), referrer_path varchar(500), referrer_query varchar(500), referrer_domain varchar(500),
  page_title varchar(500), gclid varchar(255), fbclid varchar(255), msclkid varchar(255), ttclid varchar(255),
  li_fat_id varchar(255), twclid varchar(255), event_type integer NOT NULL DEFAULT 1, event_name varchar(50),
  tag varchar(50), hostname varchar(100))`

/** The columns of each table's indexes, the primary key first. */
const indexes = {
  session: [
    'session_id',
    'created_at',
    'website_id',
    'website_id, created_at',
    ...['browser', 'os', 'device', 'screen', 'language', 'country', 'region', 'city'].map(
      (column) => `website_id, created_at, ${column}`,
    ),
  ],
  website_event: [
    'event_id',
    'created_at',
    'session_id',
    'visit_id',
    'website_id',
    'website_id, created_at',
    'website_id, created_at, url_query',
    'website_id, created_at, tag',
    'website_id, created_at, hostname',
    'website_id, session_id, created_at',
    'website_id, visit_id, created_at',
    'website_id, created_at, event_type, session_id, visit_id',
    'website_id, created_at, url_path, event_type, session_id',
    'website_id, created_at, referrer_domain, event_type, session_id, hostname',
    'website_id, created_at, page_title, event_type, session_id',
    'website_id, created_at, event_name, event_type, session_id',
  ],
}

const optional = (sql: string) => `nullIf(${sql}, '')`
const parameter = (name: string) =>
  optional(`extractURLParameter(concat('https://_/?', query), 'utm_${name}')`)
const uuid = (number: string, salt: string) => `reinterpretAsUUID(sipHash128(${number}, '${salt}'))`

/** The rows of each table in ClickHouse's SQL, with the columns that they fill. */
const rows = {
  session: () => ({
    columns: 'session_id, website_id, browser, os, device, screen, language, country, created_at',
    sql: `SELECT ${uuid('visitor', 'session')}, '${website}', any(browser), any(os), any(device),
        concat(toString(max(width)), 'x1080'), any(language), any(country), min(at)
      FROM ${staged} GROUP BY visitor`,
  }),
  website_event: (month: number) => ({
    columns:
      'event_id, website_id, session_id, visit_id, created_at, url_path, url_query, utm_source, utm_medium, utm_campaign, referrer_path, referrer_domain, page_title, event_type, event_name, hostname',
    sql: `SELECT event_id, '${website}', ${uuid('visitor', 'session')}, ${uuid('session', 'visit')}, at, path,
        ${optional('query')}, ${parameter('source')}, ${parameter('medium')}, ${parameter('campaign')},
        if(referrer = '', NULL, path(referrer)), ${optional('domainWithoutWWW(referrer)')},
        ${optional('title')}, if(event_type = 'page_view', 1, 2),
        multiIf(event_type = 'page_view', NULL, event_type = 'custom', name, event_type), host
      FROM ${staged} WHERE toYYYYMM(at) = ${month} ORDER BY at`,
  }),
}

const within = 'website_id = $1 AND created_at BETWEEN $2 AND $3'
const pagesIn = (column: string, condition = '') => `
  SELECT ${column} AS x, count(DISTINCT session_id) AS y FROM website_event
  WHERE ${within} AND event_type = 1 ${condition} GROUP BY 1 ORDER BY 2 DESC LIMIT ${limit}`

const conditions = [
  ...funnelPaths.map((path) => `url_path LIKE '${path}%'`),
  "event_name = 'click'",
]

const statements: Record<Question, string> = {
  overview: `
    SELECT sum(t.c) AS pageviews, count(DISTINCT t.session_id) AS visitors, count(DISTINCT t.visit_id) AS visits,
      sum(CASE WHEN t.c = 1 THEN 1 ELSE 0 END) AS bounces,
      sum(floor(extract(epoch FROM (t.max_time - t.min_time)))) AS totaltime
    FROM (SELECT session_id, visit_id, count(*) AS c, min(created_at) AS min_time, max(created_at) AS max_time
      FROM website_event WHERE ${within} AND event_type = 1 GROUP BY 1, 2) AS t`,
  'top pages': pagesIn('url_path'),
  sources: pagesIn('referrer_domain', "AND referrer_domain != hostname AND referrer_domain != ''"),
  live: 'SELECT count(DISTINCT session_id) AS visitors FROM website_event WHERE website_id = $1 AND created_at >= $2',
  funnel: `
    WITH level1 AS (SELECT DISTINCT session_id, created_at FROM website_event WHERE ${within} AND ${conditions[0]})
    ${[2, 3]
      .map(
        (level) => `, level${level} AS (SELECT DISTINCT we.session_id, we.created_at
      FROM level${level - 1} l JOIN website_event we ON l.session_id = we.session_id
      WHERE we.website_id = $1 AND we.created_at BETWEEN l.created_at AND l.created_at + interval '1440 minute'
        AND we.${conditions[level - 1]} AND we.created_at <= $3)`,
      )
      .join('')}
    ${[1, 2, 3]
      .map(
        (level) =>
          `SELECT ${level} AS level, count(DISTINCT session_id) AS count FROM level${level}`,
      )
      .join(' UNION ')} ORDER BY level`,
  retention: `
    WITH cohort_items AS (SELECT min(date_trunc('day', created_at)) AS cohort_date, session_id FROM website_event
        WHERE ${within} GROUP BY session_id),
      user_activities AS (SELECT DISTINCT website_event.session_id,
          date_trunc('day', created_at)::date - cohort_items.cohort_date::date AS day_number
        FROM website_event JOIN cohort_items ON website_event.session_id = cohort_items.session_id WHERE ${within}),
      cohort_size AS (SELECT cohort_date, count(*) AS visitors FROM cohort_items GROUP BY 1 ORDER BY 1),
      cohort_date AS (SELECT c.cohort_date, a.day_number, count(*) AS visitors
        FROM user_activities a JOIN cohort_items c ON a.session_id = c.session_id GROUP BY 1, 2)
    SELECT c.cohort_date AS date, c.day_number AS day, s.visitors, c.visitors AS returned,
      c.visitors::float * 100 / s.visitors AS percentage
    FROM cohort_date c JOIN cohort_size s ON c.cohort_date = s.cohort_date
    WHERE c.day_number <= 31 ORDER BY 1, 2`,
}

type AnswerRow = Record<string, unknown>

const figuresOf: Record<Question, (rows: AnswerRow[]) => Figures> = {
  overview: ([row]) => ({
    visitors: Number(row!.visitors),
    'page views': Number(row!.pageviews),
    sessions: Number(row!.visits),
  }),
  'top pages': ([row]) => ({ 'visitors who viewed the top page': Number(row!.y) }),
  sources: (rows) => ({
    visitors: Number(rows.find(({ x }) => x === comparedReferrer.domain)?.y ?? 0),
  }),
  live: ([row]) => ({ visitors: Number(row!.visitors) }),
  funnel: (rows) =>
    Object.fromEntries(rows.map(({ level, count }) => [`step ${level}`, Number(count)])),
  retention: (rows) => {
    const sum = (later: number) =>
      rows.reduce((all, row) => all + (row.day === later ? Number(row.returned) : 0), 0)
    return { visitors: sum(0), 'returned after a day': sum(1) }
  },
}

/** An answer that takes longer is not waited for. */
const timeoutMs = 300_000

/** Creates Umami's tables in a database of its own on the store's PostgreSQL. */
export async function openUmami(
  { postgresUrl }: Store,
  clickhouse: ClickHouse,
): Promise<Peer & { close(): Promise<void> }> {
  const url = new URL(postgresUrl)
  const admin = await connect(url)
  await admin.query('CREATE DATABASE peers_umami')
  await admin.end()
  url.pathname = '/peers_umami'
  const client = await connect(url)
  await client.query(tables)
  let isFilled = false
  return {
    name: 'Umami',
    source:
      'umami-software/umami getWebsiteStats.ts 0a0c1f27, getPageviewMetrics.ts 9e3c6460, getActiveVisitors.ts 2ffde37f, getFunnel.ts ec0ff503, getRetention.ts f28fb010, schema.prisma 33cb195f, migration 27 4de2d906',
    async fill() {
      await client.query('SET statement_timeout = 0')
      await copyRows(client, clickhouse, isFilled)
      if (!isFilled) await createIndexes(client)
      isFilled = true
      await client.query('VACUUM (ANALYZE) session, website_event')
      await client.query(`SET statement_timeout = ${timeoutMs}`)
    },
    question: (question, window) => async () => {
      const found = await client.query(statements[question], parametersOf(question, window))
      return figuresOf[question](found.rows)
    },
    definitions: {
      'top pages': 'visitors with a page view of the page; ours with any event on it',
      sources: 'visitors by the referrer of any page view; ours by the source of the session',
      funnel:
        'a step is any event at the path, within a day of the step before; ours page views, all of them within a day',
      retention: 'by day, up to 31 days; ours by week',
    },
    database: 'PostgreSQL',
    close: () => client.end(),
  }
}

async function connect(url: URL): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url.href })
  // A connection that breaks makes its query reject with the error.
  client.on('error', () => {})
  await client.connect()
  return client
}

const parametersOf = (question: Question, { startMs, endMs }: Window): unknown[] =>
  question === 'live'
    ? [website, new Date(Date.now() - 300_000)]
    : [website, new Date(startMs), new Date(endMs)]

/** Copies the staged rows through files of a month each. Rows of visitors that a filled table has are left out. */
async function copyRows(
  client: pg.Client,
  clickhouse: ClickHouse,
  isFilled: boolean,
): Promise<void> {
  const months = await clickhouse.rows<{ month: number }>({
    sql: `SELECT DISTINCT toYYYYMM(at) AS month FROM ${staged} ORDER BY month`,
    params: {},
  })
  await copy(client, clickhouse, 'session', rows.session(), isFilled)
  for (const { month } of months)
    await copy(client, clickhouse, 'website_event', rows.website_event(month), isFilled)
}

async function copy(
  client: pg.Client,
  clickhouse: ClickHouse,
  table: keyof typeof rows,
  { columns, sql }: { columns: string; sql: string },
  isFilled: boolean,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'footfall-bench-umami-'))
  const path = join(directory, 'rows.csv')
  try {
    const { body } = await clickhouse.stream({ sql, params: {} }, 'CSV')
    await pipeline(body, createWriteStream(path))
    // PostgreSQL may run as another user.
    await chmod(directory, 0o755)
    const from = `(${columns}) FROM '${path}' (FORMAT csv, NULL '\\N')`
    if (!isFilled) await client.query(`COPY ${table} ${from}`)
    else {
      await client.query(`CREATE TEMPORARY TABLE copied (LIKE ${table} INCLUDING DEFAULTS)`)
      await client.query(`COPY copied ${from}`)
      await client.query(`INSERT INTO ${table} SELECT * FROM copied ON CONFLICT DO NOTHING`)
      await client.query('DROP TABLE copied')
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function createIndexes(client: pg.Client): Promise<void> {
  await client.query("SET maintenance_work_mem = '1GB'")
  for (const [table, [key, ...others]] of Object.entries(indexes)) {
    await client.query(`ALTER TABLE ${table} ADD PRIMARY KEY (${key})`)
    for (const columns of others) await client.query(`CREATE INDEX ON ${table} (${columns})`)
  }
}
