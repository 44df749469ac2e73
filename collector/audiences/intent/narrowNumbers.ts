import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { TopicPlan } from './topicPlan.ts'
import { type TopicRow, topicQuery } from './topicQuery.ts'

/** Whether a request describes some of the interested people, by filters or by an audience. */
export const isOfSome = ({ filters, buildId }: Pick<TopicPlan, 'filters' | 'buildId'>): boolean =>
  filters.length > 0 || buildId !== null

/** Returns the number of records on all pages. */
export async function countAll(reader: Pick<ClickHouse, 'rows'>, plan: TopicPlan): Promise<number> {
  const query = topicQuery({ ...plan, after: null, limit: 1 }, true)
  const [first] = await reader.rows<TopicRow>(query)
  return Number(first?.total ?? 0)
}

export const freeNumber: (
  reader: Pick<ClickHouse, 'rows'>,
  plan: TopicPlan,
) => Promise<number | null> = countAll
