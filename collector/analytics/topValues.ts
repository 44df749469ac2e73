/**
 * Top lists by visitors. Adding up events is much faster than merging the visitors of every page. A value never has more
 * visitors than events, so those with the most events are candidates, whose visitors are merged.
 */
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { bindings } from '../events/query/bind.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import {
  type BreakdownAsked,
  type BreakdownRow,
  breakdownsQuery,
  byFields,
} from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import { keyOfValue, rolledEvents, rolledSettings } from './rollup/eventFigures.ts'
import type { RolledDays } from './rollup/rolledDays.ts'

/** Counts of fewer events are merged within the time of another query. */
const eventsMin = 1_000_000
/** How many values are candidates for each value of the answer. */
const candidatesPerValue = 5
/** Longer lists have most of the values. */
const limitMax = 100

/** Whether counts of days are read for candidates alone. */
export const hasCandidates = (rolled: RolledDays, limit: number): boolean =>
  rolled.events >= eventsMin && limit <= limitMax

/** A value with many events. */
interface Candidate {
  dimension: string
  key: string
  events: number
}

/**
 * Reads the values of each field with the most visitors, like breakdownsQuery from counts of days. Rows of other values
 * than the candidates may lack their counted days. Their visitors are at most the events of `next`, the first value after
 * the candidates. So the answer is complete if its last row has more visitors. Otherwise all values are read.
 */
export async function readTopValues(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  fields: readonly string[],
  asked: BreakdownAsked & { readonly rolled: RolledDays },
): Promise<BreakdownRow[]> {
  const { rolled, limit } = asked
  const most = candidatesPerValue * (limit + 1)
  const found = await queryExecutor.rows<Candidate>(candidatesQuery(plan, fields, rolled, most + 1))
  const of = <Row extends { dimension: string }>(rows: readonly Row[], field: string) =>
    rows.filter(({ dimension }) => dimension === field)
  const candidates = fields.flatMap((field) => of(found, field).slice(0, most))
  const rows = await queryExecutor.rows<BreakdownRow>(
    breakdownsQuery(plan, fields, { ...asked, keys: candidates.map(({ key }) => BigInt(key)) }),
  )
  const isComplete = fields.every((field) => {
    const next = of(found, field)[most]
    return next === undefined || (of(rows, field)[limit]?.visitors ?? 0) > next.events
  })
  return isComplete ? rows : queryExecutor.rows<BreakdownRow>(breakdownsQuery(plan, fields, asked))
}

/** Selects the values of each field with the most events, most first. */
function candidatesQuery(
  plan: AnalyticsPlan,
  fields: readonly string[],
  rolled: RolledDays,
  limit: number,
): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT dimension, toString(${keyOfValue}) AS key, sum(figures.events) AS events
FROM ${rolledEvents(plan, rolled, byFields(fields), bind)}
GROUP BY dimension, value
ORDER BY dimension, events DESC
LIMIT ${bind('UInt32', limit)} BY dimension
${rolledSettings}, force_grouping_standard_compatibility = 1`,
    params,
  }
}
