import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { botsCondition, selectionConditions } from '../events/query/filter/filterSql.ts'
import { millisOf } from '../events/query/sessionSplit.ts'
import { dayOf } from '../events/query/window/localDays.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import { isRolledFilter, wholeDay } from './rollup/countedFields.ts'
import { rolledSettings } from './rollup/eventFigures.ts'
import { noRollup, type RolledDays, type Rollup, rolledRows } from './rollup/rolledDays.ts'
import { zeroUuid } from './rollup/runs.ts'
import { inSpans } from './rollup/spans.ts'
import { joinNumbers, visitorSql } from './rollup/visitorNumbers.ts'
import { sessionRows } from './sessionRows.ts'
import { selectsSessions, sessionsSql } from './sessionsSql.ts'

/** Visitors who began in one interval and returned in a later one. */
export interface RetentionRow {
  /** The place of the cohort's interval, from 0. */
  cohort: number
  /** The place of the interval in which they returned. */
  again: number
  visitors: number
}

/** The conditions for a visitor's beginning and return. */
export interface Coming {
  /** Filters of the event with which a visitor begins. */
  readonly first: readonly Filter[]
  /** Filters of the event with which a visitor returns. */
  readonly returning: readonly Filter[]
}

/** The most intervals of a window: a visitor's intervals are bits of one number. */
export const cohortsMax = 60

/**
 * Selects, for each cohort, how many visitors returned in each interval. A cohort consists of the visitors
 * who began in one interval of the window. `starts` are the starts of the intervals, in ascending order.
 *
 * Counted days answer for their visitors if the intervals consist of days; events answer for other times.
 */
export function retentionQuery(
  plan: AnalyticsPlan,
  coming: Coming,
  starts: readonly number[],
  rollup: Counts = noRollup,
): Query {
  const { bind, params } = bindings()
  const asked = { plan, coming, starts, bind }
  return {
    sql: `SELECT cohort, again, count() AS visitors
FROM (
SELECT minIf(place, begins) AS cohort, groupBitOrIf(bitShiftLeft(toUInt64(1), place), returns) AS returned
FROM (
${visitsSql(asked, rollup)}
)
GROUP BY visitor
HAVING max(begins)
)
ARRAY JOIN arrayFilter(place -> place >= cohort, bitPositionsToArray(bitOr(returned, bitShiftLeft(toUInt64(1), cohort)))) AS again
GROUP BY cohort, again
ORDER BY cohort, again${readsCounts(plan, coming, rollup) ? `\n${rolledSettings}` : ''}`,
    params,
  }
}

interface Asked {
  readonly plan: AnalyticsPlan
  readonly coming: Coming
  readonly starts: readonly number[]
  readonly bind: Bind
}

type Counts = Pick<Rollup, 'events' | 'visits'>

/** Whether sessions decide, without the fields of their events. */
const isOfSessions = (plan: AnalyticsPlan, { first, returning }: Coming): boolean =>
  selectsSessions(plan) && first.length === 0 && returning.length === 0

/** Whether retentionQuery reads counts of days. */
export const readsCounts = (
  plan: AnalyticsPlan,
  coming: Coming,
  { events, visits }: Counts,
): boolean => (isOfSessions(plan, coming) ? visits !== null : events !== null && isCounted(coming))

/** The visits, from what answers them with the least work. */
function visitsSql(asked: Asked, { events, visits }: Counts): string {
  const { plan, coming } = asked
  if (isOfSessions(plan, coming))
    return visits ? visitsOfRows(asked, visits) : visitsOfSessions(asked)
  return events && isCounted(coming) ? visitsOfDays(asked, events) : visitsOfEvents(asked)
}

/** Returns SQL of the place of an interval: the last one that does not start after a value (SQL). */
function placeSql(value: string, starts: readonly number[], bind: Bind): string {
  const bound = bind('Array(Int64)', starts)
  const places = bind(
    'Array(UInt8)',
    starts.map((_, place) => place),
  )
  return `transform(roundDown(toInt64(${value}), ${bound}), ${bound}, ${places}, toUInt8(0))`
}

/** Returns SQL of the place of a local day (a date in SQL); all intervals begin with a day. */
const placeOfDay = (date: string, { plan: { zone }, starts, bind }: Asked): string =>
  placeSql(
    date,
    starts.map((start) => dayOf(start, zone)),
    bind,
  )

/** SQL of visits: the place of an interval, and whether the visitor begins and returns with it. */
const visitColumns = (place: string, begins: string, returns: string): string =>
  `${place} AS place, ${begins} AS begins, ${returns} AS returns`

/** The visitors of events that begin or return. */
function visitsOfEvents({ plan, coming: { first, returning }, starts, bind }: Asked): string {
  const organization = bind('UUID', plan.scope.organizationId)
  const { declared, from } = eventsSource(plan, namesOf([first, returning]), bind)
  const where = [...selectionConditions(plan, bind), '(begins OR returns)']
  return `${declared}SELECT cookie_id AS visitor, ${visitColumns(
    placeSql('ts_millis', starts, bind),
    filterPredicate(first, organization, bind),
    filterPredicate(returning, organization, bind),
  )}
FROM ${from}
WHERE ${where.join('\n  AND ')}`
}

/** The visitors of selected sessions, without joining events with sessions. */
function visitsOfSessions({ plan, starts, bind }: Asked): string {
  const { sql, met } = sessionsSql(plan, bind)
  const place = placeSql(millisOf('event'), starts, bind)
  return `SELECT _cookie_id AS visitor, ${visitColumns('_place', 'true', 'true')}
FROM (
${sql}
)
ARRAY JOIN arrayDistinct(arrayMap(event -> ${place}, ${met})) AS _place`
}

/** The visitors of counted sessions. */
function visitsOfRows(asked: Asked, rolled: RolledDays): string {
  const { plan, bind } = asked
  return `SELECT ${visitorSql('_cookie_id')} AS visitor, ${visitColumns(placeOfDay('since', asked), 'true', 'true')}
FROM (
${sessionRows(plan, rolled, {}, bind)}
)`
}

/** Whether counted days have the visitors of these filters. */
const isCounted = ({ first, returning }: Coming): boolean =>
  [first, returning].every((filters) => filters.length <= 1 && filters.every(isRolledFilter))

/** The visitors of counted days, and of the events of other times. */
function visitsOfDays(asked: Asked, rolled: RolledDays): string {
  const {
    plan,
    coming: { first, returning },
    starts,
    bind,
  } = asked
  const countedIn = ([filter]: readonly Filter[]) => {
    if (!filter) return `dimension = '${wholeDay}'`
    const values = [filter, ...(filter.others ?? [])].map(({ value }) => String(value))
    return `(dimension = ${bind('String', filter.field!.name)} AND ifNull(value IN ${bind('Array(String)', values)}, false))`
  }
  const dimensions = [first, returning].map(([filter]) => filter?.field?.name ?? wholeDay)
  const counted = [
    rolledRows(rolled, [...new Set(dimensions)], bind),
    ...botsCondition(plan.bots),
    '(begins OR returns)',
  ]
  const organization = bind('UUID', plan.scope.organizationId)
  const scanned = [...selectionConditions(plan, bind), inSpans('ts_millis', rolled.scanned, bind)]
  const cookies = `SELECT cookie_id FROM events WHERE ${scanned.join(' AND ')}`
  return `SELECT ${visitorSql(`toUUID('${zeroUuid}')`)} AS visitor, place, begins, returns
FROM (
SELECT arrayJoin(bitmapToArray(visitors)) AS number, ${visitColumns(placeOfDay('date', asked), countedIn(first), countedIn(returning))}
FROM analytics_days
WHERE ${counted.join('\n  AND ')}
)
UNION ALL
SELECT ${visitorSql('cookie_id')} AS visitor, ${visitColumns(
    placeSql('ts_millis', starts, bind),
    filterPredicate(first, organization, bind),
    filterPredicate(returning, organization, bind),
  )}
FROM events ${joinNumbers('cookie_id', bind('UUID', rolled.projectId), cookies)}
WHERE ${[...scanned, '(begins OR returns)'].join('\n  AND ')}`
}
