import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { selectionConditions } from '../events/query/filter/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import type { FunnelSteps } from './funnelSteps.ts'
import { rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { visitorSql } from './rollup/visitorNumbers.ts'
import { sessionSteps } from './sessionSteps.ts'

/** The number of visitors who reached a level. */
export interface FunnelRow {
  /** Completed steps, from 1. */
  level: number
  visitors: number
}

/**
 * Selects how many visitors completed each number of steps and no more. Counted sessions answer only if they have all
 * fields of the steps (areOfSteps).
 */
export function funnelQuery(
  plan: AnalyticsPlan,
  funnel: FunnelSteps,
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT level, count() AS visitors
FROM (
${rolled ? countedLevels(plan, funnel, rolled, bind) : eventLevels(plan, funnel, bind)}
)
WHERE level > 0
GROUP BY level
ORDER BY level${rolled ? `\n${rolledSettings}` : ''}`,
    params,
  }
}

/**
 * SQL: the number of steps, `level`, that each visitor took. The visitor's events match the plan and the
 * first step's filters, then the second's, and so on, all within `withinMs` of the first. An event takes one
 * step. `more` are columns (SQL) of the visitor's events that match the plan.
 */
export function levelsSql(
  plan: AnalyticsPlan,
  funnel: FunnelSteps,
  bind: Bind,
  more: readonly string[],
): string {
  const { level, declared, from, where } = levelParts(plan, funnel, bind)
  return `${declared}SELECT ${[level, ...more].join(', ')}
FROM ${from}
WHERE ${where.join('\n  AND ')}
GROUP BY cookie_id`
}

/** Events that match no step change no level, so they are not collected. */
function eventLevels(plan: AnalyticsPlan, funnel: FunnelSteps, bind: Bind): string {
  const { level, declared, from, where, isStep } = levelParts(plan, funnel, bind)
  return `${declared}SELECT ${level}
FROM ${from}
WHERE ${[...where, isStep].join('\n  AND ')}
GROUP BY cookie_id`
}

function levelParts(plan: AnalyticsPlan, funnel: FunnelSteps, bind: Bind) {
  return {
    ...stepsSql(plan, funnel, 'ts_millis', bind),
    ...eventsSource(plan, namesOf(funnel.steps), bind),
    where: selectionConditions(plan, bind),
  }
}

/** Returns SQL of the level of a visitor, and of whether an event matches a step. */
function stepsSql(
  { scope }: AnalyticsPlan,
  { steps, withinMs }: FunnelSteps,
  millis: string,
  bind: Bind,
): { level: string; isStep: string } {
  const organization = bind('UUID', scope.organizationId)
  const reached = steps.map((filters) => filterPredicate(filters, organization, bind))
  const time = `toUInt64(${millis})`
  return {
    level: areExclusive(steps)
      ? `windowFunnel(${bind('UInt64', withinMs)})(${[time, ...reached].join(',\n    ')}) AS level`
      : levelOfOverlapping(time, reached, withinMs, bind),
    isStep: `(${reached.map((sql) => `(${sql})`).join(' OR ')})`,
  }
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
  const matched = `arrayFilter((step, isMet) -> isMet, [${steps.join(', ')}], [${reached.join(',\n    ')}]) AS _steps`
  const times = `arrayMap(step -> toUInt64(${time} * ${partsOfMs} + if(length(_steps) = 1, ${last}, ${last - 1} - step)), ${matched})`
  const conditions = steps.map((step) => `arrayMap(step -> step = ${step}, _steps)`)
  return `windowFunnelArray(${bind('UInt64', withinMs * partsOfMs + last)})(${[times, ...conditions].join(',\n    ')}) AS level`
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

function countedLevels(
  plan: AnalyticsPlan,
  funnel: FunnelSteps,
  rolled: RolledDays,
  bind: Bind,
): string {
  const { level, isStep } = stepsSql(plan, funnel, 'ms', bind)
  return `SELECT ${level}
FROM (
${sessionSteps(plan, rolled, { isComplete: false }, bind)}
)
ARRAY JOIN event_ms AS ms, event_types AS event_type, page_paths AS page_path
WHERE ms >= ${bind('Int64', plan.window.startMs)} AND ${isStep}
GROUP BY ${visitorSql('_cookie_id')}`
}
