import type { FastifyReply } from 'fastify'
import type { Principal } from '../api/access/principal.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import type { Access } from '../api/access/routeAccess.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { nameProjects } from '../events/query/projects.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { type TimeZone, timeZoneOrUtc, utc } from '../platform/timeZone.ts'
import { type AnalyticsPlan, type AskedFigures, readFiguresFilters } from './figuresRequest.ts'
import { requireShared } from './sharePolicy.ts'

/** Access to figures: keys, and members signed in to the dashboard. */
export const mayRead = {
  to: 'key',
  projectKeys: 'own project',
  keyRole: 'read',
  limit: 'analytics',
  members: true,
} as const satisfies Access

/** The query executor for a request's figures, and the plan with its scope. */
interface OpenedFigures {
  readonly queryExecutor: QueryExecutor
  readonly plan: AnalyticsPlan
}

/**
 * Decides which events the request may read, and opens a reader for them. A plain member must name a project
 * or a pixel they can access; a share link uses only shared fields. Throws 400, 403 and 404, like
 * createScopeOf.
 */
export async function openFigures(
  deps: ReadDeps,
  principal: Principal,
  { asked, selected, zone: askedZone, windowIn }: AskedFigures,
  reply: FastifyReply,
): Promise<OpenedFigures> {
  requireShared(principal, selected)
  const { filters, sessionFilters } = filtersOfShare(principal)
  const scope = await deps.scopeOf(principal, asked)
  const zone = askedZone ?? (await readProjectZone(deps.postgres, scope.projectId))
  const plan = { ...selected, scope, zone, window: windowIn(zone) }
  const signal = untilClosed(reply)
  const queryExecutor = deps.openQueryExecutor(principal, {
    effort: 'scan',
    signal,
    window: plan.window,
  })
  const limited = {
    ...plan,
    filters: [...plan.filters, ...filters],
    sessionFilters: [...(plan.sessionFilters ?? []), ...(sessionFilters ?? [])],
  }
  return { queryExecutor, plan: await nameProjects(queryExecutor, limited) }
}

/** The filters of a share link's segment. */
const filtersOfShare = ({ caller }: Principal) =>
  readFiguresFilters((caller.kind === 'share' && caller.filter) || undefined)

/** The time zone of a project; UTC for several projects and for a deleted one. */
async function readProjectZone(postgres: Postgres, projectId: string | null): Promise<TimeZone> {
  if (projectId === null) return utc
  const { rows } = await postgres.query<{ time_zone: string }>(
    'SELECT time_zone FROM projects WHERE project_id = $1',
    [projectId],
  )
  return rows[0] ? timeZoneOrUtc(rows[0].time_zone) : utc
}
