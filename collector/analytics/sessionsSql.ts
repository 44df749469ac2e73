/**
 * Sessions with what happened in them, one row each, for figures about whole visits. Which events are in one session
 * is what query/sessions.ts says; there the sessions of events are looked up, here they are counted, which needs no
 * join and, where the order of events of the same millisecond does not matter, one number for each event.
 */

import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter.ts'
import { filterCondition } from '../events/query/filterSql.ts'
import { lookBackFrom, restMs, sessionId, visitorsOf } from '../events/query/sessions.ts'
import { dayMs } from '../events/query/window.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { metBy } from './met.ts'
import { inSpans, type Span } from './rollup/spans.ts'

/** How an event stands in the arrays, as SQL over one of them. */
interface EventForm {
  readonly sql: (matches: string) => string
  readonly millis: (event: string) => string
  readonly isPageView: (event: string) => string
  readonly matches: (event: string) => string
}

/** One Int64: half the memory and time of tuples. */
const packed: EventForm = {
  sql: (matches) => `ts_millis * 4 + (event_type = 'page_view') * 2 + (${matches})`,
  millis: (event) => `intDiv(${event}, 4)`,
  isPageView: (event) => `bitTest(${event}, 1)`,
  matches: (event) => `bitTest(${event}, 0)`,
}

/** In the order that decides which page view was the first, with the path of its page. */
const whole: EventForm = {
  sql: (matches) => `(ts_millis, event_id, event_type = 'page_view', ${matches}, page_path)`,
  millis: (event) => `${event}.1`,
  isPageView: (event) => `${event}.3`,
  matches: (event) => `${event}.4`,
}

/** SQL: the path of an event's page, in the form that has it. */
export const pathOf = (event: string): string => `${event}.5`

/** Sessions, and how to read them. */
export interface Sessions {
  readonly sql: string
  readonly form: EventForm
  /** SQL of whether a page view (SQL), the one at a place (SQL, from 1) of its session's, meets the plan. */
  readonly meets: (view: string, place: string) => string
}

const isNamed = (name: string) => (filter: Filter) => filter.field?.name === name
const isEntryFilter = isNamed('is_entry')
const isSessionIdFilter = isNamed('session_id')

/**
 * SQL of the sessions that an event of the plan is in: `_cookie_id`, `_session` (its events from before the window,
 * too, in order), `_views` (those that are page views). `hasPaths` where their pages are asked for; `closedOn`: only
 * those that half an hour passes after in these times, epoch milliseconds.
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
  const form = hasPaths || entries !== 'any' ? whole : packed
  const visitors = visitorsOf(plan, bind)
  const start = bind('Int64', window.startMs)
  const matches = [
    `ts_millis >= ${start}`,
    ...(scope.pixelId === null ? [] : [`pixel_id = ${bind('UUID', scope.pixelId)}`]),
    metBy(ofEvents, bind('UUID', scope.organizationId), bind),
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
WHERE ${[meets[entries](form), ...ofSessions.map((filter) => filterCondition(filter, bind)), ...(closedOn ? [inSpans(`(${millis('_session[-1]')} + ${restMs})`, closedOn, bind)] : [])].join('\n  AND ')}`
  return { sql, form, meets: (view, place) => `${form.matches(view)}${isPlaceMet[entries](place)}` }
}

/**
 * SQL of the events that decide over sessions that close in some times. Who has no event in the half hour before a session
 * may close there has none before it that matters; and who rests in the last `restsBack` half hours none before these.
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

/** Few visits are as long, and two hours of events are read soon. */
const restsBack = 4

type Entries = 'any' | 'entries' | 'others' | 'none'

/** Which events may meet the plan, by whether they are the first page view of their session. */
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

/** SQL of whether page views at a place of their session's may meet the plan. */
const isPlaceMet: Record<Entries, (place: string) => string> = {
  any: () => '',
  entries: (place) => ` AND ${place} = 1`,
  others: (place) => ` AND ${place} != 1`,
  none: () => ' AND false',
}

/** SQL of whether an event of `_session` meets the plan. */
const meets: Record<Entries, (form: EventForm) => string> = {
  any: ({ matches }) => `arrayExists(event -> ${matches('event')}, _session)`,
  entries: ({ isPageView, matches }) =>
    matches(`arrayFirst(event -> ${isPageView('event')}, _session)`),
  others: ({ isPageView, matches }) =>
    `arrayExists((event, place) -> ${matches('event')} AND place != arrayFirstIndex(event -> ${isPageView('event')}, _session), _session, arrayEnumerate(_session))`,
  none: () => 'false',
}
