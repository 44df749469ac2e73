import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../api/http/commonSchemas.ts'
import { rejectUnstorableText } from '../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { type FunnelRow, funnelQuery } from './funnelQuery.ts'
import { readSteps, Steps, WithinMs } from './funnelSteps.ts'
import { mayRead, openFigures } from './openFigures.ts'

const describe = {
  tags,
  operationId: 'getAnalyticsFunnel',
  summary: 'Get a funnel: how many visitors took its steps in order, not billed',
  description:
    'A visitor takes a step by an event that meets its filter, after the step before and within the time from the ' +
    'first. Of several tries the one that got farthest counts.',
  body: strictObject({ ...selectionQuery, steps: Steps, within_ms: WithinMs }),
  response: {
    200: Type.Object(
      {
        steps: Type.Array(
          Type.Object(
            {
              filter: Type.String(),
              visitors: Type.Integer({ description: 'Distinct cookies that got here.' }),
            },
            { title: 'FunnelStep', additionalProperties: false },
          ),
        ),
        meta: FiguresMeta,
      },
      { description: 'The steps, with all who got at least so far.' },
    ),
  },
}

/** POST /api/v1/analytics/funnel. Never billed. */
export const funnelRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    app.post(
      '/api/v1/analytics/funnel',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const { steps, within_ms } = request.body
        const funnel = readSteps(steps, within_ms)
        const asked = readFiguresRequest({ query: request.body }, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const levels = await queryExecutor.rows<FunnelRow>(funnelQuery(plan, funnel))
        return {
          steps: steps.map((filter, index) => ({
            filter,
            visitors: levels
              .filter(({ level }) => level > index)
              .reduce((sum, { visitors }) => sum + visitors, 0),
          })),
          meta: metaOf(request, plan),
        }
      },
    )
  }
