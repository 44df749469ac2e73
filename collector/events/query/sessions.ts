/**
 * Sessions, computed when they are asked for. A visitor is a browser (cookie_id) in a project; their events, whatever
 * pixel of the project saw them, are in one session until 30 minutes pass without one. A session that has lasted a
 * whole UTC day ends at that day's end, and so does each day of it after that: without this bound, one that never
 * rests would have to be followed back for ever.
 *
 * So the session of an event is decided by the visitor's events before it, back to the midnight that begins the day
 * before, and 30 minutes more: whether there was a rest since that midnight is known, and where there was none it does
 * not matter when the session began. Sessions are exact over any window that reaches back so far. An event that
 * arrives late is one more event: later ones never change a session's id, earlier ones change it when they begin the
 * session sooner or fill the rest between two.
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

/** SQL, or a bound value: from where on events must be read for the sessions of those from `fromMs` on. */
export const lookBackFrom = (fromMs: string): string =>
  `intDiv(${fromMs}, ${dayMs}) * ${dayMs} - ${dayMs + restMs}`

/** SQL: the id of the session of `_project_id` and `_cookie_id` that begins at `start`, epoch milliseconds. */
export const sessionId = (start: string): string =>
  `toNullable(reinterpretAsUUID(sipHash128(_project_id, _cookie_id, ${start})))`

/**
 * SQL: one row for each session of the visitors that meet `conditions`: `_project_id`, `_cookie_id`, `_start` (epoch
 * milliseconds), `_session_id` and `_entry`, the id of the first page view. Arrays of each visitor's events take half
 * the time that window functions take.
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

/** Rows of `table`, which have project_id, cookie_id and ts_millis, with the sessions they fall into. */
const joinSessions = (
  table: string,
  sessions: string,
): string => `${table} AS visits ASOF LEFT JOIN (
${sessions}
) AS sessions ON sessions._project_id = visits.project_id AND sessions._cookie_id = visits.cookie_id AND sessions._start <= visits.ts_millis`

/** What the fields are over such rows. A DSP's events are no visits, whatever cookies they name. */
const withSessionFields = `WITH if(source = 'pixel', _session_id, NULL) AS session_id,
  CAST(if(source = 'pixel', event_type = 'page_view' AND event_id = _entry, NULL), 'Nullable(Bool)') AS is_entry
`

/** What they are computed from, and what orders rows. */
const columnsNeeded = ['project_id', 'cookie_id', 'source', 'event_type', 'ts_millis', 'event_id']

/**
 * SQL conditions of the events that sessions are made of. They name no pixel: a visitor goes from one site of a project
 * to the next. A read that excludes bots makes sessions of the other events alone.
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
 * What to select from so that all events of a selection have the fields of sessions: for a whole window, where they
 * decide which rows there are. `declared` stands before SELECT.
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
 * SQL of a page of events, in its order, with `columns`, those of sessions among them. `page` is asked for the page
 * without these; sessions are computed for its rows' visitors alone.
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

/** True when fields of sessions are among these columns. */
export const hasSessionColumns = (columns: readonly Column[]): boolean =>
  columns.some(({ name }) => isNamedSessionField(name))

/** True when filters, or these fields, decide over sessions which rows there are. */
export const isAboutSessions = (
  filters: readonly Filter[],
  names: readonly string[] = [],
): boolean =>
  [...filters.flatMap(({ field }) => field?.name ?? []), ...names].some(isNamedSessionField)
