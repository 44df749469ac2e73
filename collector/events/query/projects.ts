import type { Scope } from '../../api/access/policy.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { partsOf } from '../../platform/clickhouse/cluster.ts'
import { shardOf } from '../../platform/clickhouse/shards.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import type { Selection } from './filter/selection.ts'
import type { Order } from './order.ts'

/**
 * Names the projects of an organization-wide read, so that it can use the primary key. It finds them in the
 * events, so those of deleted projects stay readable, and a projection (006_projects.sql) makes this cheap.
 * The answer is cached for a second. Three cases query again. A read with a later time of completeness must
 * not miss the first events of a project. A feed queries each time, because it does not return to missed
 * events. And while there are none, people wait for their first event.
 */
export async function nameProjects<
  Plan extends Selection & { readonly order?: Order; readonly completeUntil?: number | null },
>({ clickhouse }: QueryExecutor, plan: Plan): Promise<Plan> {
  const { scope } = plan
  if (scope.projectId !== null) return plan
  let projectsOf = rememberedBy.get(clickhouse)
  if (!projectsOf) {
    projectsOf = ttlCache(
      (key) => readProjects(clickhouse, key.split(' ')[0]!),
      (projects) => projects.length > 0,
    )
    rememberedBy.set(clickhouse, projectsOf)
  }
  const isFeed = plan.order === 'received'
  const projectIds = await (isFeed
    ? readProjects(clickhouse, scope.organizationId)
    : projectsOf(`${scope.organizationId} ${plan.completeUntil ?? ''}`))
  // With a single project, pages are read in the order of the primary key, without sorting.
  const named = projectIds.length === 1 ? { projectId: projectIds[0]! } : { projectIds }
  return { ...plan, scope: { ...scope, ...named } }
}

const rememberedBy = new WeakMap<ClickHouse, (key: string) => Promise<readonly string[]>>()

/** Returns the projects that have events, on any shard. */
async function readProjects(
  clickhouse: ClickHouse,
  organizationId: string,
): Promise<readonly string[]> {
  const rows = await Promise.all(
    partsOf(clickhouse, 'events').map(({ shard, table }) =>
      shard.rows<{ project_id: string }>({
        sql: `SELECT project_id FROM ${table} WHERE organization_id = {organizationId:UUID}
              GROUP BY organization_id, project_id`,
        params: { organizationId },
      }),
    ),
  )
  return rows.flat().map(({ project_id }) => project_id)
}

/** Returns the shards that may have events of a scope whose projects are named. */
export function partsOfProjects(
  clickhouse: ClickHouse,
  { projectId, projectIds = [] }: Pick<Scope, 'projectId' | 'projectIds'>,
): ReturnType<typeof partsOf> {
  const parts = partsOf(clickhouse, 'events')
  const named = projectId === null ? projectIds : [projectId]
  const shards = new Set(named.map((id) => shardOf(id, parts.length)))
  // Without projects there are no events: one shard says so.
  return shards.size === 0 ? parts.slice(0, 1) : parts.filter((_, shard) => shards.has(shard))
}
