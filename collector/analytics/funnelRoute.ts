import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../api/http/commonSchemas.ts'
import { rejectUnstorableText } from '../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { behaviorTags, FiguresMeta, metaOf } from './analyticsSchemas.ts'
import { readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { type FunnelRow, funnelQuery } from './funnelQuery.ts'
import { readSteps, Steps, WithinMs } from './funnelSteps.ts'
import { mayRead, openFigures } from './openFigures.ts'

const describe = {
  tags: behaviorTags,
  operationId: 'getAnalyticsFunnel',
  summary: 'Get a funnel: visitors that took its steps in order, not billed',
  description:
    'A visitor takes a step with an event that matches its filter. The event must follow the previous step, within the ' +
    'given time after the first step. If a visitor tries several times, the longest attempt counts.',
  body: strictObject({ ...selectionQuery, steps: Steps, within_ms: WithinMs }),
  response: {
    200: Type.Object(
      {
        steps: Type.Array(
          Type.Object(
            {
              filter: Type.String(),
              visitors: Type.Integer({ description: 'Distinct cookies that reached this step.' }),
            },
            { title: 'FunnelStep', additionalProperties: false },
          ),
        ),
        meta: FiguresMeta,
      },
      { description: 'The steps, with all visitors who reached at least this step.' },
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
