/** Sessions as rows: those of counted days from `counted_sessions`, and those of other times from events. */
import type { Bind } from '../events/query/bind.ts'
import { sessionFieldSql, sessionFilterCondition } from '../events/query/filter/filterSql.ts'
import { millisOf, restMs } from '../events/query/sessionSplit.ts'
import { visitorsOf } from '../events/query/sessions.ts'
import { dayOfSql } from '../events/query/window/localDays.ts'
import { dayMs } from '../events/query/window/window.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { goalEvents, goalSum, goalValue } from './goalColumns.ts'
import type { GoalConditions } from './goals.ts'
import { type RolledDays, runRows } from './rollup/rolledDays.ts'
import { zeroUuid } from './rollup/runs.ts'
import { inSpans, type Span } from './rollup/spans.ts'
import { joinNumbers } from './rollup/visitorNumbers.ts'
import { type Sessions, sessionsSql, untilNext } from './sessionsSql.ts'
import { columnsOfGoal, storedArray, storedPredicate } from './storedEvents.ts'

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

/** Returns SQL of the number of visitors in rows that meet a condition. */
export const visitorsOfRowsIf = (condition: string): string =>
  `groupBitmapIf(number, number != 0 AND (${condition})) + uniqExactIf(_cookie_id, number = 0 AND (${condition}))`

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
 * Returns SQL of the sessions of a plan without filters on events: a row for each session and day with matching events.
 * Its columns are `since` (the day), figuresOfRows, these fields of sessions, and for each goal goalEvents and goalSum.
 * The row of a session's last day has the goals of all days. `number` and `_cookie_id` are the visitor; without a number,
 * the cookie decides.
 */
export function sessionRows(
  plan: AnalyticsPlan,
  rolled: RolledDays,
  { fields = [], goals = [] }: { fields?: readonly string[]; goals?: readonly GoalConditions[] },
  bind: Bind,
): string {
  const { window, zone } = plan
  const firstDay = bind('Int64', rolled.firstDay)
  const named = fields.map(sessionFieldSql)
  const sessions = sessionsSql(plan, bind, { fields, goals, closedOn: rolled.scanned })
  const around = { ...window, startMs: window.startMs - daysOfSession * dayMs }
  const dayOf = (event: string) => dayOfSql(millisOf(event), zone, around, bind)
  const { columns, join } = daysOfSessions(sessions, dayOf, {
    events: sessions.met,
    counts: sessions.meets,
  })
  const ofGoals = goals.flatMap((_, index) =>
    [goalEvents(index), goalSum(index)].map((name) => `if(row.2, ${name}, 0) AS ${name}`),
  )
  return `SELECT since, number, toUUID('${zeroUuid}') AS _cookie_id, ${[...figuresOfRows, ...named, ...storedGoals(plan, rolled, goals, bind)].join(', ')}
FROM counted_sessions
WHERE ${[storedRows(plan, rolled, bind), `since >= ${dateSql(firstDay)}`].join('\n  AND ')}
UNION ALL
SELECT ${dateSql('row.1')} AS since, number, _cookie_id, ${[columns, ...named, ...ofGoals].join(', ')}
FROM (
${sessions.sql}
) AS sessions ${joinScanned(plan, rolled, bind)}
${join}
WHERE row.1 >= ${firstDay}`
}

/** Returns SQL of the valid rows of `counted_sessions` that match filters on sessions. */
export const storedRows = (
  { sessionFilters = [], bots }: AnalyticsPlan,
  rolled: RolledDays,
  bind: Bind,
): string =>
  [
    runRows(rolled, bind),
    `bots != '${bots === 'included' ? 'excluded' : 'included'}'`,
    ...sessionFilters.map((filter) => sessionFilterCondition(filter, bind)),
  ].join('\n  AND ')

/** Returns SQL that joins the numbers of visitors of scanned sessions. */
export const joinScanned = (plan: AnalyticsPlan, rolled: RolledDays, bind: Bind): string =>
  joinNumbers(
    '_cookie_id',
    bind('UUID', rolled.projectId),
    `SELECT cookie_id FROM events WHERE ${scannedCookies(plan, rolled.scanned, bind)}`,
  )

/** Returns SQL of goalEvents and goalSum over rows of `counted_sessions`. */
function storedGoals(
  { scope }: AnalyticsPlan,
  { firstDay }: RolledDays,
  goals: readonly GoalConditions[],
  bind: Bind,
): string[] {
  const first = dateSql(bind('Int64', firstDay))
  const organization = bind('UUID', scope.organizationId)
  return goals.flatMap((goal, index) => {
    const columns = [...new Set(columnsOfGoal(goal)), 'day'] as const
    const met = `day >= ${first} AND ${storedPredicate(goal.filters, organization, bind)}`
    const over = (value: string) =>
      `(${columns.join(', ')}) -> ${value}, ${columns.map(storedArray).join(', ')}`
    return [
      `arrayCount(${over(met)}) AS ${goalEvents(index)}`,
      goal.valuePath
        ? `arraySum(${over(`if(${met}, ${goalValue(goal, bind)}, 0)`)}) AS ${goalSum(index)}`
        : `toDecimal64(0, 4) AS ${goalSum(index)}`,
    ]
  })
}

/** Returns SQL of the date of a day since 1970. */
export const dateSql = (day: string): string => `toDate(toUInt16(${day}))`

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
