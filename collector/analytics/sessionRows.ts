/** Sessions as rows: those of counted days from `counted_sessions`, and those of other times from events. */
import type { Bind } from '../events/query/bind.ts'
import { sessionFieldSql, sessionFilterCondition } from '../events/query/filterSql.ts'
import { dayOfSql } from '../events/query/localDays.ts'
import { millisOf, restMs } from '../events/query/sessionSplit.ts'
import { visitorsOf } from '../events/query/sessions.ts'
import { dayMs } from '../events/query/window.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { type RolledDays, runRows } from './rollup/rolledDays.ts'
import { zeroUuid } from './rollup/runs.ts'
import { inSpans, type Span } from './rollup/spans.ts'
import { joinNumbers } from './rollup/visitorNumbers.ts'
import { type Sessions, sessionsSql, untilNext } from './sessionsSql.ts'

/** The figures of a session on one day; sums of rows are SessionTotals and Totals. */
export const figuresOfRows = [
  'sessions',
  'viewing_sessions',
  'bounced_sessions',
  'events',
  'page_views',
  'page_ms',
] as const

/** SQL of the number of visitors in rows. */
export const visitorsOfRows =
  'groupBitmapIf(number, number != 0) + uniqExactIf(_cookie_id, number = 0)'

/** How many earlier days a session that ends in a window may have begun in. */
export const daysOfSession = 3

/** The events and page views of sessions that count. */
interface Counted {
  /** SQL of an array of events in their order. */
  readonly events: string
  /** SQL for whether a page view counts; `place` is its number among the session's page views. */
  readonly counts: (view: string, place: string) => string
}

/**
 * Returns SQL of figuresOfRows over sessions, and of a join that divides each session by its days. It joins a tuple,
 * `row`, for each day with counted events. `dayOf` is SQL of the local day of an event, since 1970.
 */
export function daysOfSessions(
  sessions: Sessions,
  dayOf: (event: string) => string,
  { events, counts }: Counted,
): { columns: string; join: string } {
  const days = `arrayDistinct(arrayMap(event -> ${dayOf('event')}, ${events}))`
  const row = `(since, since = ${dayOf(`${events}[-1]`)}, arrayCount(event -> ${dayOf('event')} = since, ${events}),
    arrayCount((view, place) -> ${dayOf('view')} = since AND ${counts('view', 'place')}, _views, arrayEnumerate(_views)),
    arraySum((view, ms) -> if(${dayOf('view')} = since, ms, 0), _views, ${untilNext(sessions)}))`
  return {
    columns: `row.2 AS sessions, row.2 AND notEmpty(_views) AS viewing_sessions, row.2 AND length(_views) = 1 AS bounced_sessions,
  row.3 AS events, row.4 AS page_views, row.5 AS page_ms`,
    join: `ARRAY JOIN arrayMap(since -> ${row}, ${days}) AS row`,
  }
}

/**
 * Returns SQL of the sessions of a plan: a row for each session and day with matching events. Its columns are `since`
 * (the day), `number` and `_cookie_id` (the visitor; without a number, the cookie decides), figuresOfRows, and these
 * fields of sessions.
 */
export function sessionRows(
  plan: AnalyticsPlan,
  rolled: RolledDays,
  fields: readonly string[],
  bind: Bind,
): string {
  const { window, zone } = plan
  const firstDay = bind('Int64', rolled.firstDay)
  const named = fields.map(sessionFieldSql)
  const sessions = sessionsSql(plan, bind, { fields, closedOn: rolled.scanned })
  const around = { ...window, startMs: window.startMs - daysOfSession * dayMs }
  const dayOf = (event: string) => dayOfSql(millisOf(event), zone, around, bind)
  const { columns, join } = daysOfSessions(sessions, dayOf, {
    events: sessions.met,
    counts: sessions.meets,
  })
  return `SELECT since, number, toUUID('${zeroUuid}') AS _cookie_id, ${[...figuresOfRows, ...named].join(', ')}
FROM counted_sessions
WHERE ${storedSessions(plan, rolled, bind).join('\n  AND ')}
UNION ALL
SELECT toDate(toUInt16(row.1)) AS since, number, _cookie_id, ${[columns, ...named].join(', ')}
FROM (
${sessions.sql}
) AS sessions ${joinScannedNumbers(plan, rolled, bind)}
${join}
WHERE row.1 >= ${firstDay}`
}

/** Returns SQL conditions of the rows of `counted_sessions` that a plan selects. */
export const storedSessions = (
  { sessionFilters = [] }: AnalyticsPlan,
  rolled: RolledDays,
  bind: Bind,
): string[] => [
  runRows(rolled, bind),
  `since >= toDate(toUInt16(${bind('Int64', rolled.firstDay)}))`,
  ...sessionFilters.map((filter) => sessionFilterCondition(filter, bind)),
]

/** Returns SQL of a join that adds `number` to sessions of times that are not counted. */
export const joinScannedNumbers = (
  plan: AnalyticsPlan,
  { projectId, scanned }: RolledDays,
  bind: Bind,
): string =>
  joinNumbers(
    '_cookie_id',
    bind('UUID', projectId),
    `SELECT cookie_id FROM events WHERE ${scannedCookies(plan, scanned, bind)}`,
  )

/**
 * Returns SQL of the cookies with events without which no session closes in these times (epoch milliseconds).
 */
export const scannedCookies = (plan: AnalyticsPlan, spans: readonly Span[], bind: Bind): string =>
  [
    ...visitorsOf(plan, bind),
    `ts_millis < ${bind('Int64', plan.window.endMs)}`,
    inSpans(
      'ts_millis',
      spans.map(({ first, end }) => ({ first: first - restMs, end })),
      bind,
    ),
  ].join(' AND ')
