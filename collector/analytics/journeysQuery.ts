import { bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { pathOf, sessionsSql } from './sessionsSql.ts'

/** A step from one page of sessions to the next. */
export interface JourneyRow {
  /** The position of the first page in the session, from 1. */
  step: number
  from_page: string
  /** Null if the session ends there. */
  to_page: string | null
  sessions: number
  /** Number of sessions with a page at this position. */
  at_step: number
}

/** Maximum number of distinct steps between pages at one step; at_step has the total. */
const pairsMax = 2_000

/**
 * Selects the steps between the pages of the first `steps` page views; repeated views of a page count once.
 * With `start` it reads only sessions with that page, from its first view on. Pages without a path are
 * omitted.
 */
export function journeysQuery(
  plan: AnalyticsPlan,
  steps: number,
  start: string | undefined,
): Query {
  const { bind, params } = bindings()
  const { sql } = sessionsSql(plan, bind, { hasPaths: true })
  const pages = `arrayCompact(arrayFilter(path -> path IS NOT NULL, arrayMap(view -> ${pathOf('view')}, _views)))`
  const from = start === undefined ? '1' : `indexOf(_pages, ${bind('String', start)})`
  return {
    sql: `SELECT step, assumeNotNull(_journey[step]) AS from_page, _journey[step + 1] AS to_page,
  count() AS sessions, sum(count()) OVER (PARTITION BY step) AS at_step
FROM (
SELECT ${pages} AS _pages, ${from} AS _from,
  arraySlice(_pages, greatest(_from, 1), ${bind('UInt8', steps)} + 1) AS _journey
FROM (
${sql}
)
WHERE notEmpty(_pages) AND _from > 0
)
ARRAY JOIN arraySlice(arrayEnumerate(_journey), 1, ${bind('UInt8', steps)}) AS step
GROUP BY step, from_page, to_page
ORDER BY step, sessions DESC, from_page, to_page
LIMIT ${bind('UInt32', pairsMax)} BY step`,
    params,
  }
}
