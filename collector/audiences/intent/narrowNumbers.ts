import { comparedValues } from '../../events/query/comparedValues.ts'
import type { Filter } from '../../events/query/filter.ts'
import { alikeMin } from '../../events/query/freeAnswers.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { TopicPlan } from './topicPlan.ts'
import { type TopicRow, topicQuery } from './topicQuery.ts'

/** Requests with more filters and values have no free number, because each one is counted. */
const countedMax = 16

/** Whether a request describes some of the interested people, by filters or by an audience. */
export const isOfSome = ({ filters, buildId }: Pick<TopicPlan, 'filters' | 'buildId'>): boolean =>
  filters.length > 0 || buildId !== null

/**
 * Returns the number of records on all pages, or null if it would reveal the interest of few people. It does if a
 * filter, or a value that it compares with, decides about fewer than 25 of them. Compare
 * audiences/builder/decidedMembers.ts. The interest in a topic without filters and audience is no such number.
 */
export async function freeNumber(
  reader: Pick<ClickHouse, 'rows'>,
  plan: TopicPlan,
): Promise<number | null> {
  const total = await countAll(reader, plan)
  if (!isOfSome(plan)) return total
  const others = withSingleValues(plan.filters)
  if (total < alikeMin || others.length >= countedMax) return null
  for (const filters of others)
    if ((await countAll(reader, { ...plan, filters })) < alikeMin) return null
  return total
}

/** Returns the number of records on all pages. */
export async function countAll(reader: Pick<ClickHouse, 'rows'>, plan: TopicPlan): Promise<number> {
  const query = topicQuery({ ...plan, after: null, limit: 1 }, true)
  const [first] = await reader.rows<TopicRow>(query)
  return Number(first?.total ?? 0)
}

/** Returns the filters once for each value of one of them, which replaces this filter. */
const withSingleValues = (filters: readonly Filter[]): Filter[][] =>
  filters.flatMap((filter) =>
    comparedValues(filter).map((value) => filters.map((one) => (one === filter ? value : one))),
  )
