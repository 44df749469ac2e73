import { bindings } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { isPageView, sessionKey } from '../events/query/sessionOfHit.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { meetsFilters, meetsPlan, selectsEvents, sessionConditions } from './hits/selectedHits.ts'

export interface JourneysAsked {
  /** Number of steps from page to page. */
  readonly steps: number
  /** Only sessions with this page, from its first view on. */
  readonly start: string | undefined
  /** Only sessions with this page or goal, until it first comes. */
  readonly end: { readonly page: string } | { readonly goal: readonly Filter[] } | undefined
}

/** A step from one page of sessions to the next. */
export interface JourneyRow {
  /** The position of the first page, from 1. With an end, all journeys reach it at the same position. */
  step: number
  from_page: string
  /** Empty if the journey ends there. */
  to_page: string
  ends: boolean
  sessions: number
  /** Number of sessions with a page at this position. */
  at_step: number
}

/** The name of the goal among pages, whose paths have no spaces. */
export const goalPage = ' '

/** Maximum number of distinct steps between pages at one step; at_step has the total. */
const pairsMax = 2_000

/**
 * Selects the steps between the first pages of sessions that start in the window, or the last ones before an end.
 * Repeated views of a page count once. Pages without a path are omitted.
 */
export function journeysQuery(plan: AnalyticsPlan, { steps, start, end }: JourneysAsked): Query {
  const { bind, params } = bindings()
  const conditions = sessionConditions(plan, 'sessions', bind)
  const isView = `${isPageView} AND page_path IS NOT NULL`
  const goal = end && 'goal' in end ? meetsFilters(end.goal, plan, 'sessions', bind) : undefined
  const isPage = goal ? `(${isView} OR ${goal})` : isView
  const page = goal
    ? `if(${goal}, ${bind('String', goalPage)}, ifNull(page_path, ''))`
    : `ifNull(page_path, '')`
  // Other events only select their session.
  const selected = selectsEvents(plan)
    ? { where: conditions, having: `\nHAVING countIf(${meetsPlan(plan, 'sessions', bind)}) > 0` }
    : { where: [...conditions, isPage], having: '' }
  const from = start === undefined ? '1' : `indexOf(_pages, ${bind('String', start)})`
  const count = bind('UInt8', steps)
  const last = end && bind('String', 'page' in end ? end.page : goalPage)
  const part = last
    ? {
        journey: `indexOf(_begun, ${last}) AS _to, arraySlice(arraySlice(_begun, 1, _to), -(${count} + 1))`,
        has: ' AND _to > 0',
        step: `${count} + 1 - length(_journey) + _at`,
        at: 'arrayEnumerate(_journey)',
      }
    : {
        journey: `arraySlice(_begun, 1, ${count} + 1)`,
        has: '',
        step: '_at',
        at: `arraySlice(arrayEnumerate(_journey), 1, ${count})`,
      }
  return {
    sql: `SELECT ${part.step} AS step, _journey[_at] AS from_page, _journey[_at + 1] AS to_page, _at = length(_journey) AS ends,
  count() AS sessions, sum(count()) OVER (PARTITION BY step) AS at_step
FROM (
SELECT ${from} AS _from, arraySlice(_pages, greatest(_from, 1)) AS _begun, ${part.journey} AS _journey
FROM (
SELECT arrayCompact(arraySort((page, event) -> event,
  groupArrayIf(${page}, ${isPage}), groupArrayIf(session_event, ${isPage}))) AS _pages
FROM hits
WHERE ${selected.where.join('\n  AND ')}
GROUP BY ${sessionKey(plan.scope.projectId)}${selected.having}
)
WHERE notEmpty(_pages) AND _from > 0${part.has}
)
ARRAY JOIN ${part.at} AS _at
GROUP BY step, from_page, to_page, ends
ORDER BY step, sessions DESC, from_page, to_page
LIMIT ${bind('UInt32', pairsMax)} BY step`,
    params,
  }
}
