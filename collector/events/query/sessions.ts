/**
 * Sessions, computed when a query needs them.
 *
 * The rule: a visitor is a browser (cookie_id) in a project. Their events of all pixels of the project are in
 * one session until 30 minutes (restMs) pass without an event. A session that has lasted a complete UTC day
 * ends at the end of that day, and so does every further day of it. Without this bound a session without a
 * rest could be endless.
 *
 * Two SQL texts implement the rule. Change both together:
 *
 * - sessionsWhere, below, returns only the sessions. joinSessions looks up the session of each event by its
 * time.
 * - sessionsSql in analytics/sessionsSql.ts keeps the events of each session in an array, to count its
 * contents.
 *
 * Both split in two steps. `_unrested` has the runs of events without a rest. Then `_days`, the number of
 * complete days since the run began, splits each run at its midnights.
 *
 * The session of an event therefore depends on the visitor's events back to the midnight that begins the day
 * before, and 30 minutes more (lookBackFrom). A rest since that midnight is visible. Without one, the start
 * of the session does not matter. Sessions are exact over any window that reaches back so far. A late event
 * counts like any other. It never changes the id of a session that began earlier, but it can begin a session
 * sooner or join two.
 */
import { fieldNamed, isSessionField } from '../../../schemas/fields.ts'
import type { Scope } from '../../api/access/policy.ts'
import type { Bind } from './bind.ts'
import type { Column } from './columns.ts'
import type { Filter } from './filter.ts'
import { botsCondition, projectCondition } from './filterSql.ts'
import { type Order, orderBy } from './order.ts'
import type { Selection } from './selection.ts'

export const restMs = 30 * 60_000
const dayMs = 86_400_000

/** SQL of the time from which events must be read to know the sessions of events from `fromMs` (SQL) on. */
export const lookBackFrom = (fromMs: string): string =>
  `intDiv(${fromMs}, ${dayMs}) * ${dayMs} - ${dayMs + restMs}`

/** SQL: the id of the session of `_project_id` and `_cookie_id` that begins at `start` (SQL, epoch milliseconds). */
export const sessionId = (start: string): string =>
  `toNullable(reinterpretAsUUID(sipHash128(_project_id, _cookie_id, ${start})))`

/**
 * SQL: one row for each session of the events that meet `conditions`. Its columns are `_project_id`,
 * `_cookie_id`, `_start` (epoch milliseconds), `_session_id` and `_entry`, the id of the first page view. It
 * collects each visitor's events in an array, which is faster than window functions.
 */
const sessionsWhere = (
  conditions: readonly string[],
  events: string,
): string => `SELECT _project_id, _cookie_id,
  _session[1].1 AS _start,
  ${sessionId('_start')} AS _session_id,
  arrayFirst(event -> event.3, _session).2 AS _entry
FROM (
SELECT _project_id, _cookie_id, _unrested,
  arrayMap(event -> greatest(intDiv(event.1, ${dayMs}) - intDiv(_unrested[1].1, ${dayMs}) - 1, 0), _unrested) AS _days
FROM (
SELECT project_id AS _project_id, cookie_id AS _cookie_id,
  arraySort(groupArray((ts_millis, event_id, event_type = 'page_view'))) AS _events
FROM ${events}
WHERE ${conditions.join('\n  AND ')}
GROUP BY project_id, cookie_id
)
ARRAY JOIN arraySplit((_, rest) -> rest >= ${restMs}, _events, arrayDifference(_events.1)) AS _unrested
)
ARRAY JOIN arraySplit((_, midnight) -> midnight > 0, _unrested, arrayDifference(_days)) AS _session`

/** SQL: the rows of `table`, which has project_id, cookie_id and ts_millis, each joined with its session. */
const joinSessions = (
  table: string,
  sessions: string,
): string => `${table} AS visits ASOF LEFT JOIN (
${sessions}
) AS sessions ON sessions._project_id = visits.project_id AND sessions._cookie_id = visits.cookie_id AND sessions._start <= visits.ts_millis`

/** SQL of the session fields over such rows. DSP events are no visits, also if they name a cookie. */
const withSessionFields = `WITH if(source = 'pixel', _session_id, NULL) AS session_id,
  CAST(if(source = 'pixel', event_type = 'page_view' AND event_id = _entry, NULL), 'Nullable(Bool)') AS is_entry
`

/** The columns from which session fields are computed, and those that order rows. */
const columnsNeeded = ['project_id', 'cookie_id', 'source', 'event_type', 'ts_millis', 'event_id']

/**
 * SQL conditions of the events that form sessions. They name no pixel, because a session may span several pixels of a
 * project. If a read excludes bots, sessions consist of the other events alone.
 */
export const visitorsOf = (
  { scope, bots }: Pick<Selection, 'scope' | 'bots'>,
  bind: Bind,
): readonly string[] => [
  `organization_id = ${bind('UUID', scope.organizationId)}`,
  ...projectCondition(scope, bind),
  "source = 'pixel'",
  ...botsCondition(bots),
]

/**
 * Returns the FROM that gives all events of a selection their session fields, over the entire window. For
 * reads in which these fields determine the rows. `declared` is the WITH before SELECT.
 */
export function eventsWithSessions(
  plan: Pick<Selection, 'scope' | 'window' | 'bots'>,
  bind: Bind,
  events: string,
): { declared: string; from: string } {
  const { window } = plan
  const sessions = sessionsWhere(
    [
      ...visitorsOf(plan, bind),
      `ts_millis >= ${lookBackFrom(bind('Int64', window.startMs))}`,
      `ts_millis < ${bind('Int64', window.endMs)}`,
    ],
    events,
  )
  return { declared: withSessionFields, from: joinSessions(events, sessions) }
}

/**
 * The SQL of a page of events, in its order, with `columns`, some of which are session fields. `page` returns the SQL of
 * the page without those. Sessions are computed only for the visitors of the page. For reads that only show them.
 */
export function withSessionsOf(
  columns: readonly Column[],
  { scope, order }: { readonly scope: Scope; readonly order: Order },
  bind: Bind,
  page: (columns: readonly Column[]) => string,
  events = 'events',
): string {
  const names = columns.map(({ name }) => name)
  const inside = columns.filter(({ name }) => !isNamedSessionField(name))
  const missing = columnsNeeded
    .filter((name) => !names.includes(name))
    .map((name) => ({ name, sql: name }))
  const sessions = sessionsWhere(
    [
      ...visitorsOf({ scope }, bind),
      "(project_id, cookie_id) IN (SELECT project_id, cookie_id FROM page WHERE source = 'pixel')",
      `ts_millis >= ${lookBackFrom('span.1')}`,
      'ts_millis <= span.2',
    ],
    events,
  )
  return `${withSessionFields.trimEnd()},
page AS (
${page([...inside, ...missing])}
),
(SELECT (min(ts_millis), max(ts_millis)) FROM page) AS span
SELECT ${names.join(', ')}
FROM ${joinSessions('page', sessions)}
${orderBy(order)}`
}

const isNamedSessionField = (name: string): boolean => {
  const field = fieldNamed(name)
  return field !== undefined && isSessionField(field)
}

/** True when session fields are among these columns. */
export const hasSessionColumns = (columns: readonly Column[]): boolean =>
  columns.some(({ name }) => isNamedSessionField(name))

/** True when filters, or the fields `names`, need sessions to decide which rows there are. */
export const isAboutSessions = (
  filters: readonly Filter[],
  names: readonly string[] = [],
): boolean =>
  [...filters.flatMap(({ field }) => field?.name ?? []), ...names].some(isNamedSessionField)
