/**
 * Sessions with their events, one row each, for figures about complete visits. The rule of which events form a session
 * is documented in events/query/sessions.ts, which has it in SQL, too: change both together. There events are joined
 * with their sessions; here sessions are counted. That needs no join and, unless the order of events of the same
 * millisecond matters, only one number for each event.
 */

import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter.ts'
import { filterCondition } from '../events/query/filterSql.ts'
import { lookBackFrom, restMs, sessionId, visitorsOf } from '../events/query/sessions.ts'
import { dayMs } from '../events/query/window.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate } from './filterPredicate.ts'
import { inSpans, type Span } from './rollup/spans.ts'

/** How an event is encoded in the arrays, and SQL that reads it. */
interface EventForm {
  readonly sql: (matches: string) => string
  readonly millis: (event: string) => string
  readonly isPageView: (event: string) => string
  readonly matches: (event: string) => string
}

/** As one Int64, which takes half the memory and time of a tuple. */
const packed: EventForm = {
  sql: (matches) => `ts_millis * 4 + (event_type = 'page_view') * 2 + (${matches})`,
  millis: (event) => `intDiv(${event}, 4)`,
  isPageView: (event) => `bitTest(${event}, 1)`,
  matches: (event) => `bitTest(${event}, 0)`,
}

/** As a tuple in the order that decides which page view is the first, with the path of its page. */
const unpacked: EventForm = {
  sql: (matches) => `(ts_millis, event_id, event_type = 'page_view', ${matches}, page_path)`,
  millis: (event) => `${event}.1`,
  isPageView: (event) => `${event}.3`,
  matches: (event) => `${event}.4`,
}

/** SQL: the path of an event's page; only of unpacked events. */
export const pathOf = (event: string): string => `${event}.5`

/** Sessions, and how to read them. */
export interface Sessions {
  readonly sql: string
  readonly form: EventForm
  /** SQL of whether a page view (SQL) meets the plan; `place` is its number among the session's page views (SQL, from 1). */
  readonly meets: (view: string, place: string) => string
}

const isNamed = (name: string) => (filter: Filter) => filter.field?.name === name
const isEntryFilter = isNamed('is_entry')
const isSessionIdFilter = isNamed('session_id')

/**
 * SQL of the sessions in which an event of the plan occurs: `_cookie_id`, `_session` (all its events in order, also
 * those before the window), `_views` (its page views). `hasPaths`: with the paths of pages. `closedOn`: only sessions
 * that end, by half an hour without an event, within these times (epoch milliseconds).
 *
 * From the inside out: the events of each visitor ▶ `_unrested`, split at rests ▶ `_session`, split at midnights by
 * `_days` ▶ WHERE an event of the session matches.
 */
export function sessionsSql(
  plan: AnalyticsPlan,
  bind: Bind,
  {
    hasPaths = false,
    closedOn,
  }: { hasPaths?: boolean; closedOn?: readonly Span[] | undefined } = {},
): Sessions {
  const { scope, window, filters } = plan
  const ofEvents = filters.filter((filter) => !isEntryFilter(filter) && !isSessionIdFilter(filter))
  const entries = entriesWanted(filters.filter(isEntryFilter))
  const form = hasPaths || entries !== 'any' ? unpacked : packed
  const visitors = visitorsOf(plan, bind)
  const start = bind('Int64', window.startMs)
  const matches = [
    `ts_millis >= ${start}`,
    ...(scope.pixelId === null ? [] : [`pixel_id = ${bind('UUID', scope.pixelId)}`]),
    filterPredicate(ofEvents, bind('UUID', scope.organizationId), bind),
  ].join(' AND ')
  const { millis } = form
  const days = `arrayMap(event -> greatest(intDiv(${millis('event')}, ${dayMs}) - intDiv(${millis('_unrested[1]')}, ${dayMs}) - 1, 0), _unrested)`
  const ofSessions = filters.filter(isSessionIdFilter)
  const columns = [
    '_cookie_id',
    '_session',
    `arrayFilter(event -> ${form.isPageView('event')}, _session) AS _views`,
    ...(ofSessions.length > 0 ? [`${sessionId(millis('_session[1]'))} AS session_id`] : []),
  ]
  const sql = `SELECT ${columns.join(', ')}
FROM (
SELECT _project_id, _cookie_id, _unrested, ${days} AS _days
FROM (
SELECT project_id AS _project_id, cookie_id AS _cookie_id,
  arraySort(groupArray(${form.sql(matches)})) AS _events
FROM events
WHERE ${[...visitors, closedOn ? eventsBefore(closedOn, visitors, bind) : `ts_millis >= ${lookBackFrom(start)}`, `ts_millis < ${bind('Int64', window.endMs)}`].join('\n  AND ')}
GROUP BY project_id, cookie_id
)
ARRAY JOIN arraySplit((_, rest) -> rest >= ${restMs}, _events, arrayDifference(arrayMap(event -> ${millis('event')}, _events))) AS _unrested
)
ARRAY JOIN arraySplit((_, midnight) -> midnight > 0, _unrested, arrayDifference(_days)) AS _session
WHERE ${[sessionMatches[entries](form), ...ofSessions.map((filter) => filterCondition(filter, bind)), ...(closedOn ? [inSpans(`(${millis('_session[-1]')} + ${restMs})`, closedOn, bind)] : [])].join('\n  AND ')}`
  return { sql, form, meets: (view, place) => `${form.matches(view)}${isPlaceMet[entries](place)}` }
}

/**
 * SQL of the events that decide about the sessions that close within some times. A visitor without an event in the half
 * hour before has no session that may close there, so their earlier events are not read. A visitor who rested within
 * the last `restsBack` half hours began a session since, so nothing before these is read.
 */
function eventsBefore(spans: readonly Span[], visitors: readonly string[], bind: Bind): string {
  const conditions = spans.map(({ first, end }) => {
    const [from, until] = [bind('Int64', first - 2 * restMs), bind('Int64', end)]
    const [back, open] = [`(${from} - ${(restsBack - 1) * restMs})`, `(${from} + ${restMs})`]
    const cookiesSince = (ms: string) =>
      `SELECT cookie_id FROM events WHERE ${[...visitors, `ts_millis >= ${ms}`, `ts_millis < ${open}`].join(' AND ')}`
    return `(ts_millis >= ${from} AND ts_millis < ${until})
    OR (ts_millis >= ${back} AND ts_millis < ${from} AND cookie_id IN (${cookiesSince(from)}))
    OR (ts_millis >= ${lookBackFrom(open)} AND ts_millis < ${back} AND cookie_id IN (
      ${cookiesSince(back)} GROUP BY cookie_id HAVING uniqExact(intDiv(ts_millis - ${back}, ${restMs})) = ${restsBack}))`
  })
  return `(${conditions.join(' OR ')})`
}

/** Few visits are that long, and reading two hours of events is cheap. */
const restsBack = 4

type Entries = 'any' | 'entries' | 'others' | 'none'

/** What the plan's `is_entry` filters admit: entries are the first page views of their sessions. */
function entriesWanted(filters: readonly Filter[]): Entries {
  const may = (isEntry: boolean) =>
    filters.every(({ op, value, others = [] }) =>
      op === 'ne'
        ? value !== isEntry
        : [value, ...others.map((other) => other.value)].includes(isEntry),
    )
  if (may(true)) return may(false) ? 'any' : 'entries'
  return may(false) ? 'others' : 'none'
}

/** SQL of whether `is_entry` filters admit the page view at a place of its session. */
const isPlaceMet: Record<Entries, (place: string) => string> = {
  any: () => '',
  entries: (place) => ` AND ${place} = 1`,
  others: (place) => ` AND ${place} != 1`,
  none: () => ' AND false',
}

/** SQL of whether an event of `_session` meets the plan. */
const sessionMatches: Record<Entries, (form: EventForm) => string> = {
  any: ({ matches }) => `arrayExists(event -> ${matches('event')}, _session)`,
  entries: ({ isPageView, matches }) =>
    matches(`arrayFirst(event -> ${isPageView('event')}, _session)`),
  others: ({ isPageView, matches }) =>
    `arrayExists((event, place) -> ${matches('event')} AND place != arrayFirstIndex(event -> ${isPageView('event')}, _session), _session, arrayEnumerate(_session))`,
  none: () => 'false',
}
