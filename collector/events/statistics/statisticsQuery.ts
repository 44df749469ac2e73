import { hemNumber } from '../../../schemas/fields.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { bindings } from '../query/bind.ts'
import { selectionConditions } from '../query/filter/filterSql.ts'
import type { Grouping, StatisticsPlan } from './statisticsRequest.ts'

/** A row of statisticsQuery, with only the requested groups. */
export interface StatisticsRow {
  /** Whether the row is the total of all groups. */
  is_total: boolean
  day?: string
  project_id?: string
  pixel_id?: string
  events: number
  resolved_events: number
  visitors: number
  resolved_visitors: number
}

const columns: Record<Grouping, { name: string; sql: string }> = {
  day: { name: 'day', sql: 'toDate(timestamp) AS day' },
  project: { name: 'project_id', sql: 'project_id' },
  pixel: { name: 'pixel_id', sql: 'pixel_id' },
}

/**
 * Selects statistics of each group and of all together: the total first, then the latest days, and one group
 * more than the limit. The identity of a cookie is looked up once per group instead of once per event.
 */
export function statisticsQuery(plan: StatisticsPlan, limit: number): Query {
  const { bind, params } = bindings()
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const groups = plan.groups.map((group) => columns[group])
  const names = groups.map(({ name }) => name)
  const [first] = names
  const order = names.map((name) => (name === 'day' ? 'day DESC' : name))
  const sql = `SELECT ${[first ? `grouping(${first}) = 1 AS is_total` : 'true AS is_total', ...names].join(', ')},
  sum(of_cookie) AS events, sumIf(of_cookie, is_resolved) AS resolved_events,
  uniqExact(cookie_id) AS visitors, uniqExactIf(cookie_id, is_resolved) AS resolved_visitors
FROM (
SELECT ${[...groups.map(({ sql }) => sql), 'cookie_id', `${hemNumber} != 0 AS is_resolved`, 'count() AS of_cookie'].join(', ')}
FROM events
WHERE ${where}
GROUP BY ${[...names, 'organization_id', 'cookie_id'].join(', ')}
)
${first ? `GROUP BY GROUPING SETS ((${names.join(', ')}), ())\n` : ''}ORDER BY ${['is_total DESC', ...order].join(', ')}
LIMIT ${bind('UInt32', limit + 2)}
SETTINGS force_grouping_standard_compatibility = 1`
  return { sql, params }
}
