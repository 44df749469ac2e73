/**
 * Sessions with their events, one row each, for figures about complete visits, by the rule of
 * events/query/sessionSplit.ts. That needs no join and, unless the order of events of the same millisecond or fields of
 * sessions matter, only some numbers for each event.
 */

import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { filterCondition, sessionFilterCondition } from '../events/query/filter/filterSql.ts'
import { flagOf, packedEvents } from '../events/query/packedEvents.ts'
import {
  fitFlags,
  sessionFlags,
  visitorsSelected,
  visitorsWith,
} from '../events/query/selectedSessions.ts'
import { isSelective, sessionColumns } from '../events/query/sessionFields.ts'
import {
  eventsWith,
  lookBackFrom,
  millisOf,
  moreOf,
  restMs,
  splitSessions,
} from '../events/query/sessionSplit.ts'
import { sessionId, visitorsOf } from '../events/query/sessions.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate } from './filterPredicate.ts'
import { goalEvents, goalSum, goalValue } from './goalColumns.ts'
import type { GoalConditions } from './goals.ts'
import { inSpans, type Span } from './rollup/spans.ts'

/** SQL that reads an event in an array. */
interface EventForm {
  readonly isPageView: (event: string) => string
  readonly matches: (event: string) => string
}

/** Packed events, in the order that determines the first page view if they have ids. */
const packed = (hasIds: boolean): EventForm => ({
  isPageView: (event) => flagOf(event, 1, { hasIds }),
  matches: (event) => flagOf(event, 0, { hasIds }),
})
const packedFlags = (matches: string) => [matches, "event_type = 'page_view'"]

/** Events in the order that determines the first page view, with the path of the page. */
const unpackedMore = (matches: string) => [
  'event_id',
  "event_type = 'page_view'",
  `(${matches})`,
  'page_path',
]
const unpacked: EventForm = {
  isPageView: (event) => moreOf(event, 2),
  matches: (event) => moreOf(event, 3),
}
const flagsOfEvents = packedFlags('').length
const unpackedColumns = unpackedMore('').length

/** Returns SQL of the path of an event's page; only for unpacked events. */
export const pathOf = (event: string): string => moreOf(event, 4)

/** Sessions, and SQL to read them. */
export interface Sessions {
  readonly sql: string
  readonly form: EventForm
  /**
   * Returns SQL for whether a page view (SQL) matches the plan; `place` is its number among the session's
   * page views (SQL, from 1).
   */
  readonly meets: (view: string, place: string) => string
  /** SQL of the session's events that match the plan. */
  readonly met: string
  /** Returns SQL of one of the `eventColumns` of an event (SQL). */
  readonly columnOf: (event: string, index: number) => string
  /** SQL of the number of the session's events, and page views, that match the plan. */
  readonly events: string
  readonly pageViews: string
}

const isNamed = (name: string) => (filter: Filter) => filter.field?.name === name
const isEntryFilter = isNamed('is_entry')
const isSessionIdFilter = isNamed('session_id')
const isOfEvent = (filter: Filter) => !isEntryFilter(filter) && !isSessionIdFilter(filter)

/**
 * SQL of the sessions in which an event of the plan occurs, with all their events, also those before the
 * window. Its columns are `_cookie_id`, `_session` (the events in order) and `_views` (the page views).
 * `hasPaths` adds the paths of pages, and `fields` these fields of sessions. `goals` add, by index, `_goal_events_0`, the
 * number of events that match the plan and the goal, and `_goal_value_0`, the sum of their values. `eventColumns` (SQL over
 * events) are kept with each event. `closedOn` limits it to sessions that end, by half an hour without an event, within
 * these times (epoch milliseconds). `visitors` are further conditions (SQL) of all events of visitors.
 */
export function sessionsSql(
  plan: AnalyticsPlan,
  bind: Bind,
  {
    hasPaths = false,
    fields = [],
    goals = [],
    eventColumns = [],
    visitors: ofThese = [],
    closedOn,
  }: {
    hasPaths?: boolean
    fields?: readonly string[]
    goals?: readonly GoalConditions[]
    eventColumns?: readonly string[]
    visitors?: readonly string[]
    closedOn?: readonly Span[] | undefined
  } = {},
): Sessions {
  const { scope, window, filters, sessionFilters = [] } = plan
  const ofEvents = filters.filter(isOfEvent)
  const entries = entriesWanted(filters.filter(isEntryFilter))
  const isPacked =
    !hasPaths &&
    goals.length + fields.length + eventColumns.length === 0 &&
    fitFlags(sessionFilters, flagsOfEvents)
  const hasIds = sessionFilters.length > 0 || entries !== 'any'
  const form = isPacked ? packed(hasIds) : unpacked
  const names = isPacked ? [] : [...fields, ...sessionFilters.map(({ field }) => field!.name)]
  const visitors = visitorsOf(plan, bind)
  const start = bind('Int64', window.startMs)
  const organization = bind('UUID', scope.organizationId)
  const matches = [
    `ts_millis >= ${start}`,
    ...(scope.pixelId === null ? [] : [`pixel_id = ${bind('UUID', scope.pixelId)}`]),
    filterPredicate(ofEvents, organization, bind),
  ].join(' AND ')
  const goalMatches = goals.flatMap((goal) => [
    `toUInt8(${filterPredicate(goal.filters.filter(isOfEvent), organization, bind)})`,
    goalValue(goal, bind),
  ])
  const placeOfColumns = unpackedColumns + goalMatches.length + 1
  const { more, select } = sessionColumns(names, {
    place: placeOfColumns + eventColumns.length,
    views: '_views',
    path: pathOf,
  })
  const ofFlags = sessionFlags(isPacked ? sessionFilters : [], bind, {
    place: flagsOfEvents,
    views: '_views',
  })
  const collected = isPacked
    ? packedEvents({
        ...ofFlags,
        flags: [...packedFlags(matches), ...ofFlags.flags],
        hasIds,
        needed: [0, ...ofFlags.needed],
      })
    : eventsWith([...unpackedMore(matches), ...goalMatches, ...eventColumns, ...more])
  const ofSessions = filters.filter(isSessionIdFilter)
  const met = metEvents[entries](form)
  const hasSessionId =
    ofSessions.length > 0 || goals.some(({ filters }) => filters.some(isSessionIdFilter))
  const columns = [
    '_cookie_id',
    '_session',
    `arrayFilter(event -> ${form.isPageView('event')}, _session) AS _views`,
    ...(hasSessionId ? [`${sessionId(millisOf('_session[1]'))} AS session_id`] : []),
    ...select,
    ...goals.flatMap((goal, index) => reachedColumns(goal, index, met, bind)),
  ]
  const read = [
    ...visitors,
    ...ofThese,
    closedOn ? eventsBefore(closedOn, visitors, bind) : `ts_millis >= ${lookBackFrom(start)}`,
    `ts_millis < ${bind('Int64', window.endMs)}`,
  ]
  const ofVisitors = [
    ...visitorsSelected(sessionFilters, read, 'events', bind),
    ...(ofEvents.some(isSelective) ? [visitorsWith([matches], read, 'events')] : []),
  ]
  const where = [
    sessionMatches[entries](form),
    ...ofSessions.map((filter) => filterCondition(filter, bind)),
    ...(isPacked
      ? ofFlags.where
      : sessionFilters.map((filter) => sessionFilterCondition(filter, bind))),
    ...(closedOn ? [inSpans(`(${millisOf('_session[-1]')} + ${restMs})`, closedOn, bind)] : []),
  ]
  const sql = `SELECT ${columns.join(', ')}
FROM ${splitSessions('events', [...read, ...ofVisitors], collected)}
WHERE ${where.join('\n  AND ')}`
  return {
    sql,
    form,
    meets: (view, place) => `${form.matches(view)}${isPlaceMet[entries](place)}`,
    met,
    columnOf: (event, index) => moreOf(event, placeOfColumns + index),
    events: `length(${met})`,
    pageViews: `arrayCount(event -> ${form.isPageView('event')}, ${met})`,
  }
}

/** Columns with the events of a session that match the plan and reach the goal. */
const reachedColumns = (
  { filters }: GoalConditions,
  index: number,
  met: string,
  bind: Bind,
): string[] => {
  const place = unpackedColumns + 2 * index + 1
  const conditions = [
    moreOf('event', place),
    isEntryMet[entriesWanted(filters.filter(isEntryFilter))]('event'),
    ...filters.filter(isSessionIdFilter).map((filter) => filterCondition(filter, bind)),
  ]
  return [
    `arrayFilter(event -> ${conditions.join(' AND ')}, ${met}) AS _reached_${index}`,
    `length(_reached_${index}) AS ${goalEvents(index)}`,
    `arraySum(event -> ${moreOf('event', place + 1)}, _reached_${index}) AS ${goalSum(index)}`,
  ]
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

/** Few visits are longer, and reading two hours of events is cheap. */
const restsBack = 4

type Entries = 'any' | 'entries' | 'others' | 'none'

/**
 * Returns the entries that the plan's `is_entry` filters accept: entries are the first page views of their
 * sessions.
 */
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

/** SQL for whether `is_entry` filters accept the page view at a position of its session. */
const isPlaceMet: Record<Entries, (place: string) => string> = {
  any: () => '',
  entries: (place) => ` AND ${place} = 1`,
  others: (place) => ` AND ${place} != 1`,
  none: () => ' AND false',
}

/** SQL for whether `is_entry` filters accept an unpacked event. */
const isEntryMet: Record<Entries, (event: string) => string> = {
  any: () => 'true',
  entries: (event) => `${moreOf(event, 1)} = ${moreOf('_views[1]', 1)}`,
  others: (event) => `${moreOf(event, 1)} != ${moreOf('_views[1]', 1)}`,
  none: () => 'false',
}

/** SQL for whether an event of `_session` matches the plan. */
const sessionMatches: Record<Entries, (form: EventForm) => string> = {
  any: ({ matches }) => `arrayExists(event -> ${matches('event')}, _session)`,
  entries: ({ isPageView, matches }) =>
    matches(`arrayFirst(event -> ${isPageView('event')}, _session)`),
  others: ({ isPageView, matches }) =>
    `arrayExists((event, place) -> ${matches('event')} AND place != arrayFirstIndex(event -> ${isPageView('event')}, _session), _session, arrayEnumerate(_session))`,
  none: () => 'false',
}

/** SQL of the events of `_session` that match the plan. */
const metEvents: Record<Entries, (form: EventForm) => string> = {
  any: ({ matches }) => `arrayFilter(event -> ${matches('event')}, _session)`,
  entries: ({ matches }) => `arrayFilter(view -> ${matches('view')}, arraySlice(_views, 1, 1))`,
  others: ({ isPageView, matches }) =>
    `arrayFilter((event, place) -> ${matches('event')} AND place != arrayFirstIndex(event -> ${isPageView('event')}, _session), _session, arrayEnumerate(_session))`,
  none: () => 'arraySlice(_session, 1, 0)',
}

/**
 * Returns SQL of the milliseconds from each page view of the plan until the next one, or for the last until
 * the last event.
 */
export function untilNext({ meets }: Sessions): string {
  const times = '_views.1'
  return `arrayMap((view, place, time, following) -> if(${meets('view', 'place')}, following - time, 0),
    _views, arrayEnumerate(_views), ${times}, arraySlice(arrayPushBack(arrayPopFront(${times}), ${millisOf('_session[-1]')}), 1, length(_views)))`
}

/** Whether a plan has filters on sessions whose events sessionsSql finds. It knows no campaigns of DSPs. */
export const selectsSessions = ({ scope, sessionFilters = [] }: AnalyticsPlan): boolean =>
  sessionFilters.length > 0 && scope.campaignId === null
