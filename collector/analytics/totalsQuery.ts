import { bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { wholeDay } from './rollup/countedFields.ts'
import { rolledFigures, rolledSettings, rolledTotalColumns } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'

/** Counts of events; visitors are distinct cookies. */
export interface Totals {
  events: number
  visitors: number
  page_views: number
}

/** SQL of these counts, in the order of Totals. */
export const totalColumns = `count() AS events, uniqExact(cookie_id) AS visitors,
  countIf(event_type = 'page_view') AS page_views`

/** Selects one row of Totals. */
export function totalsQuery(plan: AnalyticsPlan, rolled: RolledDays | null = null): Query {
  const { bind, params } = bindings()
  if (rolled) {
    const by = { dimensions: [wholeDay], rolled: [], scanned: [], groupBy: '' }
    return {
      sql: `SELECT ${rolledTotalColumns}\nFROM ${rolledFigures(plan, rolled, by, bind)}\n${rolledSettings}`,
      params,
    }
  }
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, [], bind)
  return { sql: `${declared}SELECT ${totalColumns}\nFROM ${from}\nWHERE ${where}`, params }
}
