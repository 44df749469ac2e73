import type { Bind } from '../events/query/bind.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { zeroUuid } from './rollup/runs.ts'
import { dateSql, joinScanned, storedRows } from './sessionRows.ts'
import { sessionsSql } from './sessionsSql.ts'
import {
  columnsOfFilters,
  type StoredEventColumn,
  storedArray,
  storedEventColumns,
  storedPredicate,
} from './storedEvents.ts'

/**
 * Returns SQL of the events of a plan: those of sessions in `counted_sessions`, and those of other sessions from events.
 * Its columns are `number` and `_cookie_id` (the visitor, as in sessionRows), and these.
 */
export function eventRows(
  plan: AnalyticsPlan,
  rolled: RolledDays,
  columns: readonly StoredEventColumn[],
  bind: Bind,
): string {
  const { scope, filters } = plan
  const read = [...new Set([...columns, ...columnsOfFilters(filters)])]
  const arrays = [...read, 'day' as const].map((name) => `${storedArray(name)} AS ${name}`)
  const met = [
    `day >= ${dateSql(bind('Int64', rolled.firstDay))}`,
    ...(filters.length > 0
      ? [storedPredicate(filters, bind('UUID', scope.organizationId), bind)]
      : []),
  ]
  const sessions = sessionsSql(plan, bind, {
    eventColumns: columns.map((name) => storedEventColumns[name]),
    closedOn: rolled.scanned,
  })
  const scanned = columns.map((name, index) => `${sessions.columnOf('event', index)} AS ${name}`)
  return `SELECT ${['number', `toUUID('${zeroUuid}') AS _cookie_id`, ...columns].join(', ')}
FROM counted_sessions
ARRAY JOIN ${arrays.join(', ')}
WHERE ${[storedRows(plan, rolled, bind), ...met].join('\n  AND ')}
UNION ALL
SELECT ${['number', '_cookie_id', ...scanned].join(', ')}
FROM (
${sessions.sql}
) AS sessions ${joinScanned(plan, rolled, bind)}
ARRAY JOIN ${sessions.met} AS event`
}
