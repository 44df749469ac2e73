import { type Bind, bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { sessionSteps } from './sessionSteps.ts'
import { pathOf, sessionsSql } from './sessionsSql.ts'

/** Which part of the sessions' pages. */
export interface JourneysAsked {
  /** Number of steps from page to page. */
  readonly steps: number
  /** Only sessions with this page, from its first view on. */
  readonly start: string | undefined
}

/** A page at a position of sessions. */
export interface JourneyPageRow {
  /** From 1. */
  position: number
  page: string
  sessions: number
}

/** A step from one page of sessions to the next. */
export interface JourneyRow {
  /** The position of the first page in the session, from 1. */
  step: number
  /** Null for pages that are not named. */
  from_page: string | null
  /** Null if the session ends there, and for pages that are not named. */
  to_page: string | null
  ends: boolean
  sessions: number
  /** Number of sessions with a page at this position. */
  at_step: number
}

/** Maximum number of distinct steps between pages at one step; at_step has the total. */
const pairsMax = 2_000

/**
 * Selects the steps between the pages of the first `steps` page views; repeated views of a page count once.
 * Pages without a path are omitted.
 */
export function journeysQuery(plan: AnalyticsPlan, asked: JourneysAsked): Query {
  const { bind, params } = bindings()
  const { sql } = sessionsSql(plan, bind, { hasPaths: true })
  const paths = `arrayFilter(path -> path IS NOT NULL, arrayMap(view -> ${pathOf('view')}, _views))`
  return { sql: linksSql(journeysSql(sql, paths, asked, bind), asked, bind), params }
}

/** Selects the most frequent `pages` of each position, from counted sessions. */
export function journeyPagesQuery(
  plan: AnalyticsPlan,
  asked: JourneysAsked,
  pages: number,
  rolled: RolledDays,
): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT position, page, count() AS sessions
FROM (
${countedJourneys(plan, asked, rolled, bind)}
)
ARRAY JOIN arrayEnumerate(_journey) AS position, _journey AS page
GROUP BY position, page
ORDER BY position, sessions DESC, page
LIMIT ${bind('UInt32', pages)} BY position
${rolledSettings}`,
    params,
  }
}

/**
 * Selects the steps between these pages of each position, from counted sessions. All other pages are null, because
 * counting each pair of pages costs several times as much.
 */
export function countedJourneysQuery(
  plan: AnalyticsPlan,
  asked: JourneysAsked,
  named: readonly JourneyPageRow[],
  rolled: RolledDays,
): Query {
  const { bind, params } = bindings()
  const shown = Array.from({ length: asked.steps + 1 }, (_, index) =>
    bind(
      'Array(String)',
      named.filter(({ position }) => position === index + 1).map(({ page }) => page),
    ),
  )
  const journeys = `SELECT arrayMap((page, position) -> if(has([${shown.join(', ')}][position], assumeNotNull(page)), page, NULL),
  _pages, arrayEnumerate(_pages)) AS _journey
FROM (
SELECT _journey AS _pages FROM (
${countedJourneys(plan, asked, rolled, bind)}
)
)`
  return { sql: `${linksSql(journeys, asked, bind)}\n${rolledSettings}`, params }
}

/**
 * SQL of the first pages of sessions, `_journey`: one more than the steps. `paths` is SQL of the paths of page views that
 * have one.
 */
function journeysSql(
  sessions: string,
  paths: string,
  { steps, start }: JourneysAsked,
  bind: Bind,
): string {
  const pages = `arrayCompact(${paths})`
  const from = start === undefined ? '1' : `indexOf(_pages, ${bind('String', start)})`
  return `SELECT ${pages} AS _pages, ${from} AS _from,
  arraySlice(_pages, greatest(_from, 1), ${bind('UInt8', steps)} + 1) AS _journey
FROM (
${sessions}
)
WHERE notEmpty(_pages) AND _from > 0`
}

function countedJourneys(
  plan: AnalyticsPlan,
  asked: JourneysAsked,
  rolled: RolledDays,
  bind: Bind,
): string {
  const paths =
    "arrayFilter((path, type) -> type = 'page_view' AND path IS NOT NULL, page_paths, event_types)"
  return journeysSql(sessionSteps(plan, rolled, { isComplete: true }, bind), paths, asked, bind)
}

const linksSql = (
  journeys: string,
  { steps }: JourneysAsked,
  bind: Bind,
): string => `SELECT step, _journey[step] AS from_page, _journey[step + 1] AS to_page, step = length(_journey) AS ends,
  count() AS sessions, sum(count()) OVER (PARTITION BY step) AS at_step
FROM (
${journeys}
)
ARRAY JOIN arraySlice(arrayEnumerate(_journey), 1, ${bind('UInt8', steps)}) AS step
GROUP BY step, from_page, to_page, ends
ORDER BY step, sessions DESC, from_page, to_page
LIMIT ${bind('UInt32', pairsMax)} BY step`
