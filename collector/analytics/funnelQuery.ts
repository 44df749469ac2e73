import { type Bind, bindings } from '../events/query/bind.ts'
import { eventsSource } from '../events/query/eventsSource.ts'
import { selectionConditions } from '../events/query/filterSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { filterPredicate, namesOf } from './filterPredicate.ts'
import type { FunnelSteps } from './funnelSteps.ts'
import { rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'
import { visitorSql } from './rollup/visitorNumbers.ts'
import { areOfSteps, sessionSteps } from './sessionSteps.ts'

/** The number of visitors who reached a level. */
export interface FunnelRow {
  /** Completed steps, from 1. */
  level: number
  visitors: number
}

/**
 * Selects how many visitors completed each number of steps and no more. Counted sessions answer if they have all fields
 * of the steps.
 */
export function funnelQuery(
  plan: AnalyticsPlan,
  funnel: FunnelSteps,
  rolled: RolledDays | null = null,
): Query {
  const { bind, params } = bindings()
  const counted = rolled && areOfSteps(funnel.steps.flat()) ? rolled : null
  return {
    sql: `SELECT level, count() AS visitors
FROM (
${counted ? countedLevels(plan, funnel, counted, bind) : eventLevels(plan, funnel, bind)}
)
WHERE level > 0
GROUP BY level
ORDER BY level${counted ? `\n${rolledSettings}` : ''}`,
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
  return {
    level: `windowFunnel(${bind('UInt64', withinMs)}, 'strict_once')(toUInt64(${millis}),
    ${reached.join(',\n    ')}) AS level`,
    isStep: `(${reached.map((sql) => `(${sql})`).join(' OR ')})`,
  }
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
