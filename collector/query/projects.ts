import type { Reader } from '../access/reader.ts'
import type { ClickHouse } from '../platform/clickhouse/client.ts'
import { ttlCache } from '../platform/ttlCache.ts'
import type { Order } from './order.ts'
import type { Selection } from './selection.ts'

/**
 * Names the projects of an organization-wide read, by which it finds its way into the primary key. The events
 * themselves say which they are, so those of deleted projects stay readable; a projection (006_projects.sql) makes the
 * question cheap. A project's first events are seen within the second for which an answer is remembered; by a feed at
 * once, for it goes on past what it did not see.
 */
export async function nameProjects<Plan extends Selection & { readonly order?: Order }>(
  { clickhouse }: Reader,
  plan: Plan,
): Promise<Plan> {
  const { scope } = plan
  if (scope.projectId !== null) return plan
  let projectsOf = rememberedBy.get(clickhouse)
  if (!projectsOf) {
    projectsOf = ttlCache((organizationId) => readProjects(clickhouse, organizationId))
    rememberedBy.set(clickhouse, projectsOf)
  }
  const isFeed = plan.order === 'received'
  const projectIds = await (isFeed
    ? readProjects(clickhouse, scope.organizationId)
    : projectsOf(scope.organizationId))
  // Of a single project pages are read in the order of the key, without sorting.
  const named = projectIds.length === 1 ? { projectId: projectIds[0]! } : { projectIds }
  return { ...plan, scope: { ...scope, ...named } }
}

const rememberedBy = new WeakMap<ClickHouse, (organizationId: string) => Promise<readonly string[]>>()

async function readProjects(clickhouse: ClickHouse, organizationId: string): Promise<readonly string[]> {
  const rows = await clickhouse.rows<{ project_id: string }>({
    sql: `SELECT project_id FROM events WHERE organization_id = {organizationId:UUID}
          GROUP BY organization_id, project_id`,
    params: { organizationId },
  })
  return rows.map(({ project_id }) => project_id)
}
