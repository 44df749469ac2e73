import { hemNumber } from '../../schemas/fields.ts'
import { bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { levelsSql } from './funnelQuery.ts'
import type { FunnelSteps } from './funnelSteps.ts'

/** The requested visitors of a plan: all, or those who completed a step of a funnel. */
export interface VisitorsAsked {
  readonly funnel: FunnelSteps | null
  /** Completed steps, from 1. */
  readonly step: number
  /** Whether to exclude visitors who continued. */
  readonly hasStopped: boolean
  /** The last visitor of the previous page; null for the first page. */
  readonly after: string | null
  readonly limit: number
}

/** A visitor: the activity of one browser in the window. */
export interface VisitorRow {
  cookie_id: string
  resolved: boolean
  steps_taken: number | null
  events: number
  first_ms: number
  last_ms: number
}

/** A funnel with one step that every event completes. */
const anyEvent: FunnelSteps = { steps: [[]], withinMs: 1 }

/** Selects the visitors that figures count, by cookie_id, and one more than the limit. */
export function visitorsQuery(plan: AnalyticsPlan, asked: VisitorsAsked): Query {
  const { funnel, step, hasStopped, after, limit } = asked
  const { bind, params } = bindings()
  const levels = levelsSql(plan, funnel ?? anyEvent, bind, {
    more: [
      'cookie_id',
      'count() AS events',
      'min(ts_millis) AS first_ms',
      'max(ts_millis) AS last_ms',
    ],
    where: after === null ? [] : [`cookie_id > ${bind('UUID', after)}`],
  })
  return {
    sql: `SELECT cookie_id, ${hemNumber} != 0 AS resolved, ${funnel ? 'level' : 'NULL'} AS steps_taken,
  events, first_ms, last_ms
FROM (
SELECT *, ${bind('UUID', plan.scope.organizationId)} AS organization_id
FROM (
${levels}
)
)
WHERE level ${hasStopped ? '=' : '>='} ${bind('UInt8', step)}
ORDER BY cookie_id
LIMIT ${bind('UInt32', limit + 1)}`,
    params,
  }
}
