import { alikeMin } from '../../events/query/freeAnswers.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type DecisionPlan, singlesOut } from '../builder/decidedMembers.ts'
import { type Leaf, leavesMax } from '../definition/definition.ts'
import type { TopicPlan } from './topicPlan.ts'
import { type TopicRow, topicQuery } from './topicQuery.ts'

/** Whether a request describes some of the interested people, by filters or by an audience. */
export const isOfSome = ({ filters, buildId }: Pick<TopicPlan, 'filters' | 'buildId'>): boolean =>
  filters.length > 0 || buildId !== null

/**
 * Returns the number of records on all pages, or null if it would reveal the interest of few people. It does if the
 * definition of an audience with the same conditions would (audiences/builder/decidedMembers.ts). Filters divide the
 * members of an audience further, so both together have no number. The interest in a topic without filters and
 * audience is no such number.
 */
export async function freeNumber(
  reader: Pick<ClickHouse, 'rows'>,
  plan: TopicPlan,
): Promise<number | null> {
  const total = await countAll(reader, plan)
  if (!isOfSome(plan)) return total
  if (total < alikeMin) return null
  if (plan.filters.length === 0) return total
  if (plan.buildId !== null || plan.filters.length >= leavesMax) return null
  return (await singlesOut(reader, asDefinition(plan))) ? null : total
}

/** Returns the number of records on all pages. */
export async function countAll(reader: Pick<ClickHouse, 'rows'>, plan: TopicPlan): Promise<number> {
  const query = topicQuery({ ...plan, after: null, limit: 1 }, true)
  const [first] = await reader.rows<TopicRow>(query)
  return Number(first?.total ?? 0)
}

/** Returns the definition of the people whom a request without audience describes. */
function asDefinition({
  entity,
  topics,
  match,
  minScore,
  filters,
  windowDays,
  ...plan
}: TopicPlan): DecisionPlan {
  const leaves: Leaf[] = [
    { kind: 'intent', pointer: '', topics, match, minScore },
    ...filters.map((filter): Leaf => {
      const field = filter.field!.name
      return { kind: 'profile', pointer: '', field, conditions: [filter] }
    }),
  ]
  const include = { all: leaves.map((_, leaf) => ({ leaf })) }
  return {
    ...plan,
    parsed: { entity, include, exclude: null, limit: null, leaves },
    intentWindowDays: windowDays,
    below: null,
  }
}
