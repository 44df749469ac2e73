import { hemNumber } from '../../schemas/fields.ts'
import { bindings } from '../events/query/bind.ts'
import { direct } from '../events/query/sessionFields.ts'
import { isPageView } from '../events/query/sessionOfHit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { levelsSql } from './funnelQuery.ts'
import type { FunnelSteps } from './funnelSteps.ts'
import { sessionColumn } from './hits/selectedHits.ts'

/** The visitor after whom a page begins. */
export interface VisitorPlace {
  readonly lastMs: number
  readonly cookieId: string
}

/** Which visitors of a plan: all, or those who took so many steps of a funnel. */
export interface VisitorsAsked {
  readonly funnel: FunnelSteps | null
  /** Completed steps, from 1. */
  readonly step: number
  /** Whether to exclude visitors who continued. */
  readonly hasStopped: boolean
  /** Null for the first page. */
  readonly after: VisitorPlace | null
  readonly limit: number
}

/** A visitor: the activity of one browser in the window. */
export interface VisitorRow {
  cookie_id: string
  resolved: boolean
  steps_taken: number | null
  events: number
  pages: number
  first_ms: number
  last_ms: number
  source: string | null
  country: string | null
  device_type: string | null
  browser: string | null
  os: string | null
}

/** A funnel with one step that every event completes. */
const anyEvent: FunnelSteps = { steps: [[]], withinMs: 1 }

/** Columns that have the value of the session of the visitor's latest event. */
const latest = ['country', 'device_type', 'browser', 'os'] as const

/** The visitors that figures count, the one seen last first, and one more than the limit. */
export function visitorsQuery(plan: AnalyticsPlan, asked: VisitorsAsked): Query {
  const { funnel, step, hasStopped, after, limit } = asked
  const { bind, params } = bindings()
  const levels = levelsSql(plan, funnel ?? anyEvent, bind, [
    'cookie_id',
    'count() AS events',
    `countIf(${isPageView}) AS pages`,
    'min(ts_millis) AS first_ms',
    'max(ts_millis) AS last_ms',
    `nullIf(argMin(${sessionColumn('source')}, ts_millis), '${direct}') AS first_source`,
    ...latest.map(
      (name) =>
        `nullIf(argMax(ifNull(${sessionColumn(name)}, ''), ts_millis), '') AS latest_${name}`,
    ),
  ])
  const place = after && {
    lastMs: bind('Int64', after.lastMs),
    cookieId: bind('UUID', after.cookieId),
  }
  const isAfter = place
    ? `\n  AND (last_ms < ${place.lastMs} OR (last_ms = ${place.lastMs} AND cookie_id > ${place.cookieId}))`
    : ''
  return {
    sql: `SELECT cookie_id, ${hemNumber} != 0 AS resolved, ${funnel ? 'level' : 'NULL'} AS steps_taken,
  events, pages, first_ms, last_ms, first_source AS source, ${latest.map((name) => `latest_${name} AS ${name}`).join(', ')}
FROM (
SELECT *, ${bind('UUID', plan.scope.organizationId)} AS organization_id
FROM (
${levels}
)
)
WHERE level ${hasStopped ? '=' : '>='} ${bind('UInt8', step)}${isAfter}
ORDER BY last_ms DESC, cookie_id
LIMIT ${bind('UInt32', limit + 1)}`,
    params,
  }
}
