/** The events of sessions, in order: those of counted sessions from `counted_sessions`, and of other times from events. */
import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { inSample, sampleOf } from '../events/query/filter/filterSql.ts'
import { millisOf } from '../events/query/sessionSplit.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { zeroUuid } from './rollup/runs.ts'
import { dateSql, joinScanned, storedRows } from './sessionRows.ts'
import { sessionsSql } from './sessionsSql.ts'
import { storedArray, storedEventColumns } from './storedEvents.ts'

/** The columns with the events of a session: epoch milliseconds, types and paths. */
const stepNames = ['event_ms', 'event_types', 'page_paths']

/** The fields of events that these columns have. */
const stepFields = ['event_type', 'page_path'] as const

/** Whether the columns decide filters of events. */
export const areOfSteps = (filters: readonly Filter[]): boolean =>
  filters.every(
    ({ field }) => field !== undefined && stepFields.some((name) => name === field.name),
  )

/**
 * Returns SQL of the sessions of a plan, a row each: `number` and `_cookie_id` (the visitor; without a number, the cookie
 * decides), and stepNames. `isComplete` includes events before the window.
 */
export function sessionSteps(
  plan: AnalyticsPlan,
  rolled: RolledDays,
  { isComplete }: { isComplete: boolean },
  bind: Bind,
): string {
  const { oneVisitorOf, ...all } = plan
  const sessions = sessionsSql(all, bind, {
    eventColumns: stepFields.map((name) => storedEventColumns[name]),
    closedOn: rolled.scanned,
  })
  const events = isComplete ? '_session' : sessions.met
  const scanned = [
    arrayOf(millisOf('event'), 'Int64', events),
    arrayOf(sessions.columnOf('event', 0), 'LowCardinality(String)', events),
    arrayOf(sessions.columnOf('event', 1), 'LowCardinality(Nullable(String))', events),
  ]
  const stored = [storedArray('event_ms'), ...stepFields.map(storedArray)]
  const named = (columns: readonly string[]) =>
    columns.map((sql, index) => `${sql} AS ${stepNames[index]}`).join(', ')
  // The number decides for its visitor in counted sessions and in others.
  const place = `if(number = 0, ${sampleOf('_cookie_id')}, ${sampleOf('number')})`
  const ofScanned = inSample(oneVisitorOf, place, bind)
  const where = [
    'sessions = 1',
    `since >= ${dateSql(bind('Int64', rolled.firstDay))}`,
    storedRows(plan, rolled, bind),
    ...inSample(oneVisitorOf, 'sample', bind),
  ]
  return `SELECT number, toUUID('${zeroUuid}') AS _cookie_id, ${named(stored)}
FROM counted_sessions
WHERE ${where.join('\n  AND ')}
UNION ALL
SELECT number, _cookie_id, ${named(scanned)}
FROM (
${sessions.sql}
) AS sessions ${joinScanned(all, rolled, bind)}${ofScanned.map((sql) => `\nWHERE ${sql}`).join('')}`
}

const arrayOf = (value: string, type: string, events: string): string =>
  `CAST(arrayMap(event -> ${value}, ${events}), 'Array(${type})')`
