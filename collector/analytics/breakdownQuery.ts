/** The values of dimensions, over hits. */
import { type Bind, bindings } from '../events/query/bind.ts'
import { sessionFieldNames } from '../events/query/sessionFields.ts'
import { isEntry, sessionKey } from '../events/query/sessionOfHit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { type GoalConditions, type GoalCounts, sumOfValues, valuesOf } from './goals.ts'
import { dimensionValue } from './hits/hitFields.ts'
import {
  entryPage,
  exitPage,
  hitConditions,
  hitsWith,
  isFirstOfSession,
  isInWindow,
  meetsFilters,
  meetsPlan,
  selectsEvents,
  sessionColumn,
  sessionConditions,
  startsInWindow,
} from './hits/selectedHits.ts'
import { totalColumns, totalColumnsIf } from './totalsQuery.ts'

export interface BreakdownRow extends Partial<GoalCounts> {
  dimension: string
  value: string | null
  visitors: number
  /** Null for pages of sessions. */
  events: number | null
  page_views: number | null
  /** Null for fields of events. */
  sessions: number | null
}

/**
 * Selects the values of several dimensions, those with the most visitors first, or sessions for entry_page and exit_page,
 * and one more than the limit. Dimensions are fields of sessions, fields of events or paths into event_data.
 */
export function breakdownQuery(
  plan: AnalyticsPlan,
  dimensions: readonly string[],
  { limit, goal = null }: { limit: number; goal?: GoalConditions | null },
): Query {
  const { bind, params } = bindings()
  const columns = [
    'value',
    'events',
    'page_views',
    'sessions',
    'visitors',
    ...(goal ? ['goal_events', 'goal_visitors', 'goal_value'] : []),
  ].join(', ')
  const selects = dimensions.map(
    (
      name,
    ) => `SELECT ${bind('String', name)} AS dimension, ${columns}, ${isPage(name) ? 'sessions' : 'visitors'} AS _rank
FROM (
${valuesSql(name, plan, goal, bind)}
)`,
  )
  return {
    sql: `SELECT dimension, ${columns}
FROM (
${selects.join('\nUNION ALL\n')}
)
ORDER BY dimension, _rank DESC, events DESC, value
LIMIT ${bind('UInt32', limit + 1)} BY dimension`,
    params,
  }
}

const isPage = (name: string): boolean => name === 'entry_page' || name === 'exit_page'

function valuesSql(
  name: string,
  plan: AnalyticsPlan,
  goal: GoalConditions | null,
  bind: Bind,
): string {
  if (isPage(name)) return pagesSql(name, plan, goal, bind)
  if (sessionFieldNames.includes(name)) return sessionFieldSql(name, plan, goal, bind)
  return goal ? reachingSql(name, plan, goal, bind) : eventFieldSql(name, plan, bind)
}

/** The events with a value. */
function eventFieldSql(name: string, plan: AnalyticsPlan, bind: Bind): string {
  const { from, values } = hitsWith([dimensionValue(name)], plan, 'events', bind)
  return `SELECT toString(${values[0]}) AS value, ${totalColumns()}, NULL AS sessions
FROM ${from}
WHERE ${all(hitConditions(plan, 'events', bind))}
GROUP BY value`
}

/** The same with the events that reach a goal, by the visitors of the value, in any order. */
function reachingSql(name: string, plan: AnalyticsPlan, goal: GoalConditions, bind: Bind): string {
  const { from, values } = hitsWith([dimensionValue(name)], plan, 'events', bind)
  const ofGoal = hitsWith(valuesOf(goal), plan, 'events', bind)
  const where = hitConditions(plan, 'events', bind)
  const meets = meetsFilters(goal.filters, plan, 'events', bind)
  return `SELECT valued.value AS value, events, page_views, sessions, visitors, goal_events, goal_visitors, goal_value
FROM (
${eventFieldSql(name, plan, bind)}
) AS valued LEFT JOIN (
SELECT value, sum(_reached) AS goal_events, count() AS goal_visitors, sum(_value) AS goal_value
FROM (
SELECT DISTINCT toString(${values[0]}) AS value, cookie_id
FROM ${from}
WHERE ${all(where)}
) AS seen INNER JOIN (
SELECT cookie_id, count() AS _reached, ${sumOfValues(ofGoal.values[0], 'true')} AS _value
FROM ${ofGoal.from}
WHERE ${all([...where, meets])}
GROUP BY cookie_id
) AS reaching USING (cookie_id)
GROUP BY value
) AS reached ON valued.value <=> reached.value`
}

/** The events of the sessions with a value, and the sessions that start in the window. */
function sessionFieldSql(
  name: string,
  plan: AnalyticsPlan,
  goal: GoalConditions | null,
  bind: Bind,
): string {
  // Of a session that starts in the window, the only matching event may come after it.
  const rows = selectsEvents(plan) ? 'both' : 'events'
  const { from, values } = hitsWith(goal ? valuesOf(goal) : [], plan, rows, bind)
  const where = hitConditions(plan, rows, bind)
  const isIn = rows === 'both' ? isInWindow(plan, bind) : null
  const reaches = () =>
    [...(isIn ? [isIn] : []), meetsFilters(goal!.filters, plan, rows, bind)].join(' AND ')
  const columns = [
    `toString(${sessionColumn(name)}) AS value`,
    isIn ? totalColumnsIf(isIn) : totalColumns(isFirstOfSession(plan, bind)),
    isIn
      ? `uniqExactIf((${sessionKey(plan.scope.projectId)}), ${startsInWindow(plan, bind)}) AS sessions`
      : 'countIf(session_event = 1) AS sessions',
    ...(goal ? goalColumns(reaches(), values[0]) : []),
  ]
  return `SELECT ${columns.join(',\n  ')}
FROM ${from}
WHERE ${all(where)}
GROUP BY value${isIn ? '\nHAVING events + sessions > 0' : ''}`
}

/** The sessions that begin or end with a page. */
function pagesSql(
  name: string,
  plan: AnalyticsPlan,
  goal: GoalConditions | null,
  bind: Bind,
): string {
  const conditions = sessionConditions(plan, 'sessions', bind)
  const nothing = 'NULL AS events, NULL AS page_views'
  if (name === 'entry_page' && !goal && !selectsEvents(plan))
    return `SELECT toString(page_path) AS value, ${nothing}, count() AS sessions, uniqExact(cookie_id) AS visitors
FROM hits
WHERE ${all([...conditions, isEntry])}
GROUP BY value`
  const { from, values } = hitsWith(goal ? valuesOf(goal) : [], plan, 'sessions', bind)
  const meets = meetsPlan(plan, 'sessions', bind)
  const reaches = goal
    ? `${meets} AND ${meetsFilters(goal.filters, plan, 'sessions', bind)}`
    : 'false'
  const columns = [
    'value',
    nothing,
    'count() AS sessions',
    'uniqExact(cookie_id) AS visitors',
    ...(goal
      ? [
          'sum(_reached) AS goal_events',
          'uniqExactIf(cookie_id, _reached > 0) AS goal_visitors',
          'sum(_value) AS goal_value',
        ]
      : []),
  ]
  const ofSession = [
    'cookie_id',
    `${name === 'entry_page' ? entryPage : exitPage} AS value`,
    ...(goal
      ? [`countIf(${reaches}) AS _reached`, `${sumOfValues(values[0], reaches)} AS _value`]
      : []),
  ]
  return `SELECT ${columns.join(', ')}
FROM (
SELECT ${ofSession.join(',\n  ')}
FROM ${from}
WHERE ${all(conditions)}
GROUP BY ${sessionKey(plan.scope.projectId)}
HAVING max(session_page) > 0 AND countIf(${meets}) > 0
)
GROUP BY value`
}

/** Returns SQL of the columns of GoalCounts over rows of hits, of which some reach a goal. */
const goalColumns = (reaches: string, value: string | undefined): readonly string[] => [
  `countIf(${reaches}) AS goal_events`,
  `uniqExactIf(cookie_id, ${reaches}) AS goal_visitors`,
  `${sumOfValues(value, reaches)} AS goal_value`,
]

const all = (conditions: readonly string[]): string => conditions.join('\n  AND ')
