import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { projectFor } from '../access/permissions.ts'
import { exactly, Id, Nullable } from '../http/schemas.ts'
import type { ReadDeps } from '../query/deps.ts'
import { ScopeHeaders } from '../query/scopeQuery.ts'
import { mayRead, openFigures } from './access.ts'
import { conversionsQuery } from './conversionsQuery.ts'
import { readGoals } from './goals.ts'
import { readFiguresRequest, readFreeFilters, selectionQuery } from './plan.ts'
import { FiguresMeta, metaOf, tags } from './schemas.ts'

const describe = {
  tags,
  operationId: 'getAnalyticsConversions',
  summary: 'Get how many visitors reach the goals of a project, not billed',
  description: 'An event converts where it meets the filter of the goal, and that of the request.',
  headers: ScopeHeaders,
  querystring: exactly({ ...selectionQuery, project_id: Id }),
  response: {
    200: Type.Object(
      {
        conversions: Type.Array(
          Type.Object(
            {
              name: Type.String(),
              filter: Type.String(),
              events: Type.Integer({ description: 'Events that meet the goal.' }),
              visitors: Type.Integer({ description: 'Distinct cookies of these.' }),
              rate: Nullable(Type.Number(), {
                description:
                  'Of all visitors that meet the filter, those of the goal, from 0 to 1; null of none.',
              }),
            },
            { title: 'AnalyticsConversion', additionalProperties: false },
          ),
        ),
        meta: FiguresMeta,
      },
      { description: 'The goals, in their order.' },
    ),
  },
}

/** GET /api/v1/analytics/conversions. Never billed. */
export const conversionsRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/conversions',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const asked = readFiguresRequest(request, deps.now())
        const { reader, plan } = await openFigures(deps, request.principal, asked, reply)
        const { projectId } = await projectFor(
          deps.postgres,
          request.principal,
          request.query.project_id,
          'read',
        )
        const { goals } = await readGoals(deps.postgres, projectId)
        const filters = goals.map(({ filter }) => readFreeFilters('filter', filter))
        const [found] = await reader.rows<Record<string, number>>(conversionsQuery(plan, filters))
        const all = found!.visitors!
        return {
          conversions: goals.map(({ name, filter }, index) => {
            const visitors = found![`visitors_${index}`]!
            return {
              ...{ name, filter, visitors, events: found![`events_${index}`]! },
              rate: all === 0 ? null : visitors / all,
            }
          }),
          meta: metaOf(request, plan),
        }
      },
    )
  }
