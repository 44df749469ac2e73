import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import type { EventsPlan, Selection } from './selection.ts'

/**
 * Names the projects of an organization-wide read, so that it can use the primary key. It finds them in the
 * events, so those of deleted projects stay readable, and a projection (006_projects.sql) makes this cheap.
 * The answer is cached for a second. Three cases query again. A read with a later time of completeness must
 * not miss the first events of a project. A feed queries each time, because it does not return to missed
 * events. And while there are none, people wait for their first event. A read of one pixel needs its shard alone.
 */
export async function nameProjects<
  Plan extends Selection & Partial<Pick<EventsPlan, 'order' | 'completeUntil'>>,
>({ clickhouse }: QueryExecutor, plan: Plan): Promise<Plan> {
  const { scope } = plan
  if (scope.projectId !== null) return plan
  let projectsOf = rememberedBy.get(clickhouse)
  if (!projectsOf) {
    projectsOf = ttlCache(
      (key) => {
        const [organizationId, pixelId] = key.split(' ') as [string, string]
        return readProjects(clickhouse, organizationId, pixelId || null)
      },
      (projects) => projects.length > 0,
    )
    rememberedBy.set(clickhouse, projectsOf)
  }
  const isFeed = plan.order === 'received'
  const projectIds = await (isFeed
    ? readProjects(clickhouse, scope.organizationId, scope.pixelId)
    : projectsOf(`${scope.organizationId} ${scope.pixelId ?? ''} ${plan.completeUntil ?? ''}`))
  // With a single project, pages are read in the order of the primary key, without sorting.
  const named = projectIds.length === 1 ? { projectId: projectIds[0]! } : { projectIds }
  return { ...plan, scope: { ...scope, ...named } }
}

const rememberedBy = new WeakMap<ClickHouse, (key: string) => Promise<readonly string[]>>()

async function readProjects(
  clickhouse: ClickHouse,
  organizationId: string,
  pixelId: string | null,
): Promise<readonly string[]> {
  const rows = await clickhouse.rows<{ project_id: string }>({
    sql: `SELECT project_id FROM {events:Identifier} WHERE organization_id = {organizationId:UUID}
          GROUP BY organization_id, project_id`,
    params: { organizationId, events: 'events' },
    ...(pixelId !== null && { pixelId }),
  })
  return rows.map(({ project_id }) => project_id)
}
