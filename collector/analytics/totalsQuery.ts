import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filter/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { wholeDay } from './rollup/countedFields.ts'
import { rolledFigures, rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { mergedVisitorsIf } from './rollup/visitorNumbers.ts'

/** Counts of events; visitors are distinct cookies. */
export interface Totals<Count = number> {
  events: Count
  visitors: Count
  page_views: Count
}

/** SQL of these counts, in the order of Totals. */
export const totalColumns = `count() AS events, uniqExact(cookie_id) AS visitors,
  countIf(event_type = 'page_view') AS page_views`

/** Selects one row of Totals. */
export function totalsQuery(plan: AnalyticsPlan): Query {
  const { bind, params } = bindings()
  return { sql: selectTotals(totalColumns, plan, bind), params }
}

/** Totals of a plan, and those of the bots that match it, which its own may leave out. */
export interface TotalsWithBots extends Totals {
  bot_events: number
  bot_visitors: number
  bot_page_views: number
}

/** Selects one row of TotalsWithBots, from counts of days if there are any. */
export function totalsWithBotsQuery(plan: AnalyticsPlan, rolled: RolledDays | null): Query {
  const { bind, params } = bindings()
  const withBots: AnalyticsPlan = { ...plan, bots: 'included' }
  const columns = (totalsIf: (condition: string) => Totals<string>) => {
    const own = totalsIf(plan.bots === 'included' ? 'true' : 'NOT is_bot')
    const bots = totalsIf('is_bot')
    return `${own.events} AS events, ${own.visitors} AS visitors, ${own.page_views} AS page_views,
  ${bots.events} AS bot_events, ${bots.visitors} AS bot_visitors, ${bots.page_views} AS bot_page_views`
  }
  if (!rolled) return { sql: selectTotals(columns(scannedTotalsIf), withBots, bind), params }
  const by = {
    dimensions: [wholeDay],
    rolled: ['is_bot'],
    scanned: ['is_bot'],
    groupBy: '\nGROUP BY is_bot',
  }
  const sql = `SELECT ${columns(rolledTotalsIf)}
FROM ${rolledFigures(withBots, rolled, by, bind)}
${rolledSettings}`
  return { sql, params }
}

/** Returns SQL of the counts of events that meet a condition. */
const scannedTotalsIf = (condition: string): Totals<string> => ({
  events: `countIf(${condition})`,
  visitors: `uniqExactIf(cookie_id, ${condition})`,
  page_views: `countIf(event_type = 'page_view' AND ${condition})`,
})

/** The same over rows of rolledFigures. */
const rolledTotalsIf = (condition: string): Totals<string> => ({
  events: `sumIf(figures.events, ${condition})`,
  visitors: mergedVisitorsIf(condition),
  page_views: `sumIf(figures.page_views, ${condition})`,
})

function selectTotals(columns: string, plan: AnalyticsPlan, bind: Bind): string {
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const { declared, from } = eventsSource(plan, [], bind)
  return `${declared}SELECT ${columns}\nFROM ${from}\nWHERE ${where}`
}
