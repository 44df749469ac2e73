import { type Bind, bindings } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import type { FunnelSteps } from './funnelSteps.ts'
import { hitConditions, meetsFilters } from './hits/selectedHits.ts'

/** The number of visitors who reached a level. */
export interface FunnelRow {
  /** Completed steps, from 1. */
  level: number
  visitors: number
}

/** Selects how many visitors completed each number of steps and no more. */
export function funnelQuery(plan: AnalyticsPlan, funnel: FunnelSteps): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT level, count() AS visitors
FROM (
${levelsSql(plan, funnel, bind)}
)
WHERE level > 0
GROUP BY level
ORDER BY level`,
    params,
  }
}

/**
 * SQL: the number of steps, `level`, that each visitor took. The visitor's events match the plan and the
 * first step's filters, then the second's, and so on, all within `withinMs` of the first. An event takes one
 * step. `more` are columns (SQL) of the visitor's events that match the plan. Without any, events that match no step are
 * left out, because they change no level.
 */
export function levelsSql(
  plan: AnalyticsPlan,
  { steps, withinMs }: FunnelSteps,
  bind: Bind,
  more: readonly string[] = [],
): string {
  const declared = steps.map(
    (filters, index) => `${meetsFilters(filters, plan, 'events', bind)} AS step_${index}`,
  )
  const reached = steps.map((_, index) => `step_${index}`)
  const time = 'toUInt64(ts_millis)'
  const level = areExclusive(steps)
    ? `windowFunnel(${bind('UInt64', withinMs)})(${[time, ...reached].join(', ')})`
    : levelOfOverlapping(time, reached, withinMs, bind)
  const where = [
    ...hitConditions(plan, 'events', bind),
    ...(more.length > 0 ? [] : [`(${reached.join(' OR ')})`]),
  ]
  return `WITH ${declared.join(',\n  ')}
SELECT ${[`${level} AS level`, ...more].join(', ')}
FROM hits
WHERE ${where.join('\n  AND ')}
GROUP BY cookie_id`
}

/** Parts of a millisecond. Half of them order the steps of an event. */
const partsOfMs = 32

/**
 * Returns SQL of the level if an event can match several steps. By default it would take all of them. The mode
 * `strict_once` keeps every possible sequence of a visitor's events, so its memory grows exponentially with the steps.
 * Instead, the later steps of such an event come first, in parts of its millisecond.
 */
function levelOfOverlapping(
  time: string,
  reached: readonly string[],
  withinMs: number,
  bind: Bind,
): string {
  const steps = reached.map((_, index) => index)
  const last = partsOfMs / 2 - 1
  const matched = `arrayFilter((step, isMet) -> isMet, [${steps.join(', ')}], [${reached.join(', ')}]) AS _steps`
  const times = `arrayMap(step -> toUInt64(${time} * ${partsOfMs} + if(length(_steps) = 1, ${last}, ${last - 1} - step)), ${matched})`
  const conditions = steps.map((step) => `arrayMap(step -> step = ${step}, _steps)`)
  return `windowFunnelArray(${bind('UInt64', withinMs * partsOfMs + last)})(${[times, ...conditions].join(',\n    ')})`
}

/** Whether no event can match two steps, because one of its fields would need two values. */
function areExclusive(steps: FunnelSteps['steps']): boolean {
  const valuesOf = (filters: readonly Filter[]) =>
    new Map(
      filters
        .filter(({ field, op }) => field && (op === 'eq' || op === 'in'))
        .map(({ field, value, others = [] }) => [
          field!.name,
          new Set([value, ...others.map((other) => other.value)].map(String)),
        ]),
    )
  const all = steps.map(valuesOf)
  return all.every((one, index) =>
    all.slice(index + 1).every((other) =>
      [...one].some(([name, values]) => {
        const others = other.get(name)
        return others && ![...values].some((value) => others.has(value))
      }),
    ),
  )
}
