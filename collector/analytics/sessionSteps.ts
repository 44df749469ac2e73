/** The events of sessions, in order: those of counted sessions from `counted_sessions`, and of other times from events. */
import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter.ts'
import { inSample, sampleOf } from '../events/query/filterSql.ts'
import { millisOf } from '../events/query/sessionSplit.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { zeroUuid } from './rollup/runs.ts'
import { joinScannedNumbers, storedSessions } from './sessionRows.ts'
import { pathOf, sessionsSql, typeOf } from './sessionsSql.ts'

/** The columns with the events of a session: epoch milliseconds, types and paths. */
const columns = {
  event_ms: { of: millisOf, type: 'Int64' },
  event_types: { of: typeOf, type: 'LowCardinality(String)' },
  page_paths: { of: pathOf, type: 'LowCardinality(Nullable(String))' },
}
export const stepNames = Object.keys(columns)

/** The fields of events that these columns have. */
const stepFields: readonly string[] = ['event_type', 'page_path']

/** Returns SQL of these columns from an array of events (SQL), which sessionsSql selects with `hasTypes`. */
export const stepColumns = (events: string): string[] =>
  Object.entries(columns).map(
    ([name, { of, type }]) =>
      `CAST(arrayMap(event -> ${of('event')}, ${events}), 'Array(${type})') AS ${name}`,
  )

/** Whether the columns decide filters of events. */
export const areOfSteps = (filters: readonly Filter[]): boolean =>
  filters.every(({ field }) => field !== undefined && stepFields.includes(field.name))

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
  const { sql, met } = sessionsSql(all, bind, { hasTypes: true, closedOn: rolled.scanned })
  // The number decides for its visitor in counted sessions and in others.
  const place = `if(number = 0, ${sampleOf('_cookie_id')}, ${sampleOf('number')})`
  const ofScanned = inSample(oneVisitorOf, place, bind)
  return `SELECT number, toUUID('${zeroUuid}') AS _cookie_id, ${stepNames.join(', ')}
FROM counted_sessions
WHERE ${['sessions = 1', ...storedSessions(plan, rolled, bind), ...inSample(oneVisitorOf, 'sample', bind)].join('\n  AND ')}
UNION ALL
SELECT number, _cookie_id, ${stepColumns(isComplete ? '_session' : met).join(', ')}
FROM (
${sql}
) AS sessions ${joinScannedNumbers(all, rolled, bind)}${ofScanned.map((sql) => `\nWHERE ${sql}`).join('')}`
}
