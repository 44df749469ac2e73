import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { hemNumber } from '../../../schemas/fields.ts'
import { requireOwnProject } from '../../api/access/policy.ts'
import { access } from '../../api/access/recordAccess.ts'
import { Day, Id, Nullable } from '../../api/http/commonSchemas.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { bindings } from '../query/bind.ts'
import { selectionConditions } from '../query/filter/filterSql.ts'
import { nameProjects } from '../query/projects.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import {
  daysDefault,
  daysMax,
  type Grouping,
  readStatisticsRequest,
  type StatisticsPlan,
  StatisticsQuery,
} from './statisticsRequest.ts'

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

const count = (description: string) => Type.Integer({ description })
const rate = (description: string) =>
  Nullable(Type.Number(), { description: `${description}, from 0 to 1. Null if there are none.` })

const counts = {
  events: count('Events that pixels recorded.'),
  resolved_events: count('Events of identified visitors.'),
  visitors: count('Distinct cookies. Without consent a cookie lasts one day.'),
  resolved_visitors: count('Cookies of identified visitors.'),
  people: Nullable(Type.Integer(), {
    description:
      'Deprecated, always null. A free count of people can identify a visitor. Read people from a visitors route.',
  }),
  event_rate: rate('resolved_events ÷ events'),
  visitor_rate: rate('resolved_visitors ÷ visitors'),
}

const groups = {
  day: Type.Optional(Day),
  project_id: Type.Optional(Id),
  pixel_id: Type.Optional(Id),
}

/** GET /api/v1/resolution/statistics. */
const describeStatistics = {
  tags: ['Identity'],
  operationId: 'getResolutionStatistics',
  summary: 'Get identity resolution statistics, not billed',
  description:
    `Returns figures of all projects, one project or one pixel. Default window: ${daysDefault} days. Longest: ` +
    `${daysMax} days. Events count by the current identity of their visitors. Omits groups without events.`,
  querystring: StatisticsQuery,
  response: {
    200: Type.Object(
      {
        statistics: Type.Array(
          Type.Object(
            { ...groups, ...counts },
            { title: 'ResolutionStatistics', additionalProperties: false },
          ),
        ),
        total: Type.Object(counts, { title: 'ResolutionTotal', additionalProperties: false }),
        meta: Type.Object({
          start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
          end_ms: Type.Integer({ description: 'End of the window, exclusive.' }),
          has_more: Type.Boolean({ description: 'True if there are more than 10,000 groups.' }),
          request_id: Type.String(),
        }),
      },
      { description: 'The groups, latest days first, and their total.' },
    ),
  },
}

/** A row of statisticsQuery, with only the requested groups. */
interface StatisticsRow {
  /** Whether the row is the total of all groups. */
  is_total: boolean
  day?: string
  project_id?: string
  pixel_id?: string
  events: number
  resolved_events: number
  visitors: number
  resolved_visitors: number
}

const columns: Record<Grouping, { name: string; sql: string }> = {
  day: { name: 'day', sql: 'toDate(timestamp) AS day' },
  project: { name: 'project_id', sql: 'project_id' },
  pixel: { name: 'pixel_id', sql: 'pixel_id' },
}

/**
 * Selects statistics of each group and of all together: the total first, then the latest days, and one group
 * more than the limit. The identity of a cookie is looked up once per group instead of once per event.
 */
export function statisticsQuery(plan: StatisticsPlan, limit: number): Query {
  const { bind, params } = bindings()
  const where = selectionConditions(plan, bind).join('\n  AND ')
  const groups = plan.groups.map((group) => columns[group])
  const names = groups.map(({ name }) => name)
  const [first] = names
  const order = names.map((name) => (name === 'day' ? 'day DESC' : name))
  const sql = `SELECT ${[first ? `grouping(${first}) = 1 AS is_total` : 'true AS is_total', ...names].join(', ')},
  sum(of_cookie) AS events, sumIf(of_cookie, is_resolved) AS resolved_events,
  uniqExact(cookie_id) AS visitors, uniqExactIf(cookie_id, is_resolved) AS resolved_visitors
FROM (
SELECT ${[...groups.map(({ sql }) => sql), 'cookie_id', `${hemNumber} != 0 AS is_resolved`, 'count() AS of_cookie'].join(', ')}
FROM events
WHERE ${where}
GROUP BY ${[...names, 'organization_id', 'cookie_id'].join(', ')}
)
${first ? `GROUP BY GROUPING SETS ((${names.join(', ')}), ())\n` : ''}ORDER BY ${['is_total DESC', ...order].join(', ')}
LIMIT ${bind('UInt32', limit + 2)}
SETTINGS force_grouping_standard_compatibility = 1`
  return { sql, params }
}
