/**
 * The rows of `hits` of an AnalyticsPlan. Events belong to their own time, sessions with all of their events to the time
 * of their first one. So each figure names its rows:
 * - `events`: the events in the window.
 * - `sessions`: the events of the sessions that start in the window, also those after its end.
 * - `both`: all of these, for one read of both. `isInWindow` and `startsInWindow` tell them apart.
 */
import type { Bind } from '../../events/query/bind.ts'
import type { Filter } from '../../events/query/filter/filter.ts'
import {
  botsCondition,
  filterCondition,
  projectCondition,
  selectionConditions,
} from '../../events/query/filter/filterSql.ts'
import {
  eventKey,
  isEntry,
  isPageView,
  sessionKey,
  sessionMaxMs,
  sessionStart,
} from '../../events/query/sessionOfHit.ts'
import type { Window } from '../../events/query/window/window.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import {
  type EventValue,
  eventValue,
  fieldConditions,
  hitValue,
  isFilterOfHits,
  onSql,
} from './hitFields.ts'

export type Rows = 'events' | 'sessions' | 'both'
type Plan = Pick<AnalyticsPlan, 'scope' | 'window' | 'bots' | 'filters' | 'sessionFilters'>

/**
 * Whether conditions on single events apply. Otherwise all events of a session count, and figures of sessions are sums
 * over rows. The condition of a pixel is one, because a session may span several pixels.
 */
export const selectsEvents = ({ scope, filters }: Pick<Plan, 'scope' | 'filters'>): boolean =>
  scope.pixelId !== null || filters.length > 0

/** The times between which the rows are. */
const spanOf = (rows: Rows, { startMs, endMs }: Window): Window => ({
  startMs,
  endMs: rows === 'events' ? endMs : endMs + sessionMaxMs,
})

/** Returns SQL: whether the event is in the window, of rows that are not before it. */
export const isInWindow = ({ window }: Plan, bind: Bind): string =>
  `ts_millis < ${bind('Int64', window.endMs)}`

/** Returns SQL: whether the session starts in the window. */
export const startsInWindow = ({ window }: Plan, bind: Bind): string =>
  `${sessionStart} >= ${bind('Int64', window.startMs)} AND ${sessionStart} < ${bind('Int64', window.endMs)}`

/**
 * Returns SQL that holds for at least one event in the window of each session. So counts of distinct visitors read few
 * rows. Not for plans with conditions on single events.
 */
export const isFirstOfSession = (plan: Plan, bind: Bind): string =>
  `(session_event = 1 OR NOT (${startsInWindow(plan, bind)}))`

/** Returns the conditions of rows without those on single events: scope, time, bots and filters on sessions. */
export const sessionConditions = (plan: Plan, rows: Rows, bind: Bind): readonly string[] => [
  ...scopeConditions(plan, spanOf(rows, plan.window), bind),
  ...(rows === 'sessions' ? [startsInWindow(plan, bind)] : []),
  ...(plan.sessionFilters ?? []).map((filter) => sessionFilterSql(filter, plan, rows, bind)),
]

/** Returns the conditions on single events of a plan: its pixel and filters. */
const eventConditions = (plan: Plan, rows: Rows, bind: Bind): readonly string[] => [
  ...(plan.scope.pixelId === null ? [] : [`pixel_id = ${bind('UUID', plan.scope.pixelId)}`]),
  ...filterConditions(plan.filters, plan, rows, bind),
]

export const hitConditions = (plan: Plan, rows: Rows, bind: Bind): readonly string[] => [
  ...sessionConditions(plan, rows, bind),
  ...eventConditions(plan, rows, bind),
]

/** Returns SQL: whether the event meets the conditions on single events of the plan. */
export const meetsPlan = (plan: Plan, rows: Rows, bind: Bind): string =>
  allOf(eventConditions(plan, rows, bind))

/** Returns SQL: whether the event meets filters on event fields. An unknown value meets none. */
export const meetsFilters = (
  filters: readonly Filter[],
  plan: Plan,
  rows: Rows,
  bind: Bind,
): string => allOf(filterConditions(filters, plan, rows, bind))

const allOf = (conditions: readonly string[]): string =>
  conditions.map((sql) => `ifNull(${sql}, false)`).join(' AND ') || 'true'

/** The events decide filters on fields that hits do not have. */
function filterConditions(
  filters: readonly Filter[],
  plan: Plan,
  rows: Rows,
  bind: Bind,
): readonly string[] {
  const others = filters.filter((filter) => !isFilterOfHits(filter))
  return [
    ...fieldConditions(filters.filter(isFilterOfHits), bind),
    ...(others.length > 0
      ? [`(${hitKey}) IN (${eventsSelect([], others, plan, rows, bind)})`]
      : []),
  ]
}

/** The columns by which hits and events find each other. */
const hitKey = 'project_id, cookie_id, ts_millis, event_key'

/** Returns SQL of the events of rows that meet filters: their keys, and `columns`. */
const eventsSelect = (
  columns: readonly string[],
  filters: readonly Filter[],
  { scope, window, bots }: Plan,
  rows: Rows,
  bind: Bind,
): string => {
  const selection = { scope, window: spanOf(rows, window), bots, filters, source: 'pixel' } as const
  const keys = ['project_id', 'cookie_id', 'ts_millis', `${eventKey} AS event_key`]
  return `SELECT ${[...keys, ...columns].join(', ')}
FROM events
WHERE ${selectionConditions(selection, bind).join('\n  AND ')}`
}

/**
 * Returns the FROM of rows with values of events, and SQL of these values, in their order. Values that hits do not have
 * come from a join with the events.
 */
export function hitsWith(
  values: readonly EventValue[],
  plan: Plan,
  rows: Rows,
  bind: Bind,
): { from: string; values: readonly string[] } {
  const joined: string[] = []
  const sqlOf = (value: EventValue, index: number): string => {
    const own = hitValue(value, bind)
    if (own) return own
    joined.push(`${eventValue(value, bind)} AS _value_${index}`)
    return `_value_${index}`
  }
  const sql = values.map(sqlOf)
  const from =
    joined.length > 0
      ? `hits ANY LEFT JOIN (\n${eventsSelect(joined, [], plan, rows, bind)}\n) AS events USING (${hitKey})`
      : 'hits'
  return { from, values: sql }
}

export const sessionColumn = (name: string): string => `session_${name}`

/** SQL: the path of the last page view, over the rows of a session; null without one. */
export const exitPage = `nullIf(argMaxIf(ifNull(page_path, ''), session_page, ${isPageView}), '')`

/** SQL: the path of the first page view, over the rows of a session; null without one. */
export const entryPage = `anyIf(page_path, ${isEntry})`

function sessionFilterSql(filter: Filter, plan: Plan, rows: Rows, bind: Bind): string {
  const name = filter.field!.name
  if (name !== 'entry_page' && name !== 'exit_page')
    return filterCondition(onSql(filter, sessionColumn(name)), bind)
  // Sessions without page views have no page, so they meet `ne` as well.
  const isExcluded = filter.op === 'ne'
  const meets = (page: string) =>
    filterCondition(onSql(isExcluded ? ({ ...filter, op: 'eq' } as Filter) : filter, page), bind)
  const where = [...scopeConditions(plan, spanOfSessions(rows, plan.window), bind), isPageView]
  const key = sessionKey(plan.scope.projectId)
  const sessions =
    name === 'entry_page'
      ? `${[...where, 'session_page = 1', meets('page_path')].join(' AND ')}`
      : `${where.join(' AND ')} GROUP BY ${key} HAVING ${meets(exitPage)}`
  return `(${key}) ${isExcluded ? 'NOT IN' : 'IN'} (SELECT ${key} FROM hits WHERE ${sessions})`
}

/** The times between which all events of the sessions of rows are. */
const spanOfSessions = (rows: Rows, { startMs, endMs }: Window): Window => ({
  startMs: rows === 'sessions' ? startMs : startMs - sessionMaxMs,
  endMs: endMs + sessionMaxMs,
})

const scopeConditions = (
  { scope, bots }: Plan,
  { startMs, endMs }: Window,
  bind: Bind,
): readonly string[] => [
  `organization_id = ${bind('UUID', scope.organizationId)}`,
  ...projectCondition(scope, bind),
  `ts_millis >= ${bind('Int64', startMs)}`,
  `ts_millis < ${bind('Int64', endMs)}`,
  ...botsCondition(bots),
]
