import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requireOwnProject } from '../../api/access/policy.ts'
import { access } from '../../api/access/recordAccess.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { nameProjects } from '../query/projects.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { type StatisticsRow, statisticsQuery } from './statisticsQuery.ts'
import { readStatisticsRequest } from './statisticsRequest.ts'
import { describeStatistics } from './statisticsSchemas.ts'

const groupsMax = 10_000

/** GET /api/v1/resolution/statistics: how many events and visitors are identified. Never billed. */
export const statisticsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/resolution/statistics',
      {
        schema: describeStatistics,
        config: {
          access,
        },
      },
      async (request, reply) => {
        const { principal } = request
        const { requestedScope, plan } = readStatisticsRequest(request, deps.now())
        requireOwnProject(principal, 'records', requestedScope.projectId)
        const signal = untilClosed(reply)
        const queryExecutor = deps.openQueryExecutor(principal, {
          effort: 'scan',
          signal,
          window: plan.window,
        })
        const scoped = await nameProjects(queryExecutor, {
          ...plan,
          scope: await deps.scopeOf(principal, requestedScope),
        })
        const [total, ...groups] = await queryExecutor.rows<StatisticsRow>(
          statisticsQuery(scoped, groupsMax),
        )
        return {
          statistics: groups.slice(0, groupsMax).map(publicRow),
          total: publicRow(total!),
          meta: {
            start_ms: plan.window.startMs,
            end_ms: plan.window.endMs,
            has_more: groups.length > groupsMax,
            request_id: request.id,
          },
        }
      },
    )
  }

const publicRow = ({ is_total, day, project_id, pixel_id, ...counts }: StatisticsRow) => ({
  ...(!is_total && { day, project_id, pixel_id }),
  ...counts,
  people: null,
  event_rate: rateOf(counts.resolved_events, counts.events),
  visitor_rate: rateOf(counts.resolved_visitors, counts.visitors),
})

/** Returns a rate from 0 to 1; null without events or visitors. */
const rateOf = (resolved: number, all: number): number | null => (all === 0 ? null : resolved / all)
