/**
 * Events with the session that each is in, computed when a query needs them, by the rule of sessionSplit.ts. A late
 * event counts like any other. It never changes the id of a session that began earlier. It can begin a session sooner
 * or join two. analytics/sessionsSql.ts counts sessions without this join.
 */
import { fieldNamed, isSessionField } from '../../../schemas/fields.ts'
import type { Scope } from '../../api/access/policy.ts'
import type { Bind } from './bind.ts'
import type { Column } from './columns.ts'
import type { Filter } from './filter/filter.ts'
import {
  botsCondition,
  isSelected,
  projectCondition,
  sampleCondition,
  sessionFilterCondition,
} from './filter/filterSql.ts'
import type { Selection } from './filter/selection.ts'
import { type Order, orderBy } from './order.ts'
import { fitFlags, selectedSessionsSql } from './selectedSessions.ts'
import { sessionColumns } from './sessionFields.ts'
import { eventsWith, lookBackFrom, millisOf, moreOf, splitSessions } from './sessionSplit.ts'

/**
 * Returns SQL of the id of the session of `_project_id` and `_cookie_id` that begins at `start` (SQL, epoch
 * milliseconds).
 */
export const sessionId = (start: string): string =>
  `toNullable(reinterpretAsUUID(sipHash128(_project_id, _cookie_id, ${start})))`

/** SQL: additional columns of sessions for these reads. */
const columnsOfEvents = ['event_id', "event_type = 'page_view'", 'page_path']
const views = `arrayFilter(event -> ${moreOf('event', 2)}, _session)`

/**
 * Returns SQL with one row for each session of events that meet `conditions`. Its columns are `_project_id`,
 * `_cookie_id`, `_start` (epoch milliseconds), `_session_id`, `_entry` (the id of the first page view) and
 * the fields `names`.
 */
function sessionsWhere(
  conditions: readonly string[],
  events: string,
  names: readonly string[] = [],
): string {
  const { more, select } = sessionColumns(names, {
    place: columnsOfEvents.length + 1,
    views,
    path: (event) => moreOf(event, 3),
  })
  const columns = [
    '_project_id',
    '_cookie_id',
    `${millisOf('_session[1]')} AS _start`,
    `${sessionId('_start')} AS _session_id`,
    `${moreOf(`arrayFirst(event -> ${moreOf('event', 2)}, _session)`, 1)} AS _entry`,
    ...select,
  ]
  return `SELECT ${columns.join(',\n  ')}
FROM ${splitSessions(events, conditions, eventsWith([...columnsOfEvents, ...more]))}`
}

/**
 * Returns SQL that joins the rows of `table`, which has project_id, cookie_id and ts_millis, with their
 * sessions.
 */
const joinSessions = (
  table: string,
  sessions: string,
): string => `${table} AS visits ASOF LEFT JOIN (
${sessions}
) AS sessions ON sessions._project_id = visits.project_id AND sessions._cookie_id = visits.cookie_id AND sessions._start <= visits.ts_millis`

/** SQL of the session fields over such rows. DSP events have no session, even if they have a cookie. */
const withSessionFields = `WITH if(source = 'pixel', _session_id, NULL) AS session_id,
  CAST(if(source = 'pixel', event_type = 'page_view' AND event_id = _entry, NULL), 'Nullable(Bool)') AS is_entry
`

/** The columns for computing session fields and for ordering rows. */
const columnsNeeded = ['project_id', 'cookie_id', 'source', 'event_type', 'ts_millis', 'event_id']

/**
 * Returns SQL conditions of the events that form sessions. They name no pixel, because a session may span
 * several pixels of a project. If a read excludes bots, sessions consist only of other events.
 */
export const visitorsOf = (
  { scope, bots, oneVisitorOf }: Pick<Selection, 'scope' | 'bots' | 'oneVisitorOf'>,
  bind: Bind,
): readonly string[] => [
  `organization_id = ${bind('UUID', scope.organizationId)}`,
  ...projectCondition(scope, bind),
  "source = 'pixel'",
  ...botsCondition(bots),
  ...sampleCondition(oneVisitorOf, 'cookie_id', bind),
]

/**
 * Returns the FROM that gives all events of a selection their session fields, over the entire window. For
 * reads in which these fields determine the rows. `names` are further fields that the read uses. With filters of sessions
 * alone, it only finds the selected sessions. `declared` is the WITH before SELECT.
 */
export function eventsWithSessions(
  plan: Pick<
    Selection,
    'scope' | 'window' | 'bots' | 'filters' | 'sessionFilters' | 'oneVisitorOf'
  > & {
    readonly sessionNames?: readonly string[]
  },
  names: readonly string[],
  bind: Bind,
  events: string,
): { declared: string; from: string } {
  const { window, filters, sessionFilters = [], sessionNames = [] } = plan
  const conditions = [
    ...visitorsOf(plan, bind),
    `ts_millis >= ${lookBackFrom(bind('Int64', window.startMs))}`,
    `ts_millis < ${bind('Int64', window.endMs)}`,
  ]
  const areOnlySelected =
    sessionFilters.length > 0 &&
    fitFlags(sessionFilters, 1) &&
    sessionNames.length === 0 &&
    !isAboutSessions(filters, names)
  if (areOnlySelected)
    return {
      declared: `WITH ts_millis <= _end AS ${isSelected}\n`,
      from: joinSessions(events, selectedSessionsSql(sessionFilters, conditions, events, bind)),
    }
  const of = [...sessionNames, ...sessionFilters.map(({ field }) => field!.name)]
  const met = sessionFilters.map((filter) => sessionFilterCondition(filter, bind))
  return {
    declared:
      met.length > 0
        ? `${withSessionFields.trimEnd()},\n  ${met.join(' AND ')} AS ${isSelected}\n`
        : withSessionFields,
    from: joinSessions(events, sessionsWhere(conditions, events, of)),
  }
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

/** Whether these columns contain session fields. */
export const hasSessionColumns = (columns: readonly Column[]): boolean =>
  columns.some(({ name }) => isNamedSessionField(name))

/** Whether filters, or the fields `names`, need sessions to determine the rows. */
export const isAboutSessions = (
  filters: readonly Filter[],
  names: readonly string[] = [],
): boolean =>
  [...filters.flatMap(({ field }) => field?.name ?? []), ...names].some(isNamedSessionField)
