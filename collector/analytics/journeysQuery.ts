import { bindings } from '../events/query/bind.ts'
import { isPageView, sessionKey } from '../events/query/sessionOfHit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { meetsPlan, selectsEvents, sessionConditions } from './hits/selectedHits.ts'

/** Which part of the sessions' pages. */
export interface JourneysAsked {
  /** Number of steps from page to page. */
  readonly steps: number
  /** Only sessions with this page, from its first view on. */
  readonly start: string | undefined
}

/** A step from one page of sessions to the next. */
export interface JourneyRow {
  /** The position of the first page in the session, from 1. */
  step: number
  from_page: string
  /** Empty if the session ends there. */
  to_page: string
  ends: boolean
  sessions: number
  /** Number of sessions with a page at this position. */
  at_step: number
}

/** Maximum number of distinct steps between pages at one step; at_step has the total. */
const pairsMax = 2_000

/**
 * Selects the steps between the first pages of sessions that start in the window; repeated views of a page count once.
 * Pages without a path are omitted.
 */
export function journeysQuery(plan: AnalyticsPlan, { steps, start }: JourneysAsked): Query {
  const { bind, params } = bindings()
  const conditions = sessionConditions(plan, 'sessions', bind)
  const isPage = `${isPageView} AND page_path IS NOT NULL`
  // Other events only select their session.
  const selected = selectsEvents(plan)
    ? { where: conditions, having: `\nHAVING countIf(${meetsPlan(plan, 'sessions', bind)}) > 0` }
    : { where: [...conditions, isPage], having: '' }
  const from = start === undefined ? '1' : `indexOf(_pages, ${bind('String', start)})`
  const count = bind('UInt8', steps)
  return {
    sql: `SELECT step, _journey[step] AS from_page, _journey[step + 1] AS to_page, step = length(_journey) AS ends,
  count() AS sessions, sum(count()) OVER (PARTITION BY step) AS at_step
FROM (
SELECT ${from} AS _from, arraySlice(_pages, greatest(_from, 1), ${count} + 1) AS _journey
FROM (
SELECT arrayCompact(arraySort((page, view) -> view,
  groupArrayIf(ifNull(page_path, ''), ${isPage}), groupArrayIf(session_page, ${isPage}))) AS _pages
FROM hits
WHERE ${selected.where.join('\n  AND ')}
GROUP BY ${sessionKey(plan.scope.projectId)}${selected.having}
)
WHERE notEmpty(_pages) AND _from > 0
)
ARRAY JOIN arraySlice(arrayEnumerate(_journey), 1, ${count}) AS step
GROUP BY step, from_page, to_page, ends
ORDER BY step, sessions DESC, from_page, to_page
LIMIT ${bind('UInt32', pairsMax)} BY step`,
    params,
  }
}
