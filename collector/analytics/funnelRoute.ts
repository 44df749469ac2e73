import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { rejectUnstorableText } from '../http/rejectUnstorableText.ts'
import { exactly } from '../http/schemas.ts'
import type { ReadDeps } from '../query/deps.ts'
import { FreeFilterText } from '../query/filter.ts'
import { ScopeHeaders } from '../query/scopeQuery.ts'
import { dayMs } from '../query/window.ts'
import { mayRead, openFigures } from './access.ts'
import { type FunnelRow, funnelQuery } from './funnelQuery.ts'
import { readFiguresRequest, readFreeFilters, selectionQuery } from './plan.ts'
import { FiguresMeta, metaOf, tags } from './schemas.ts'

const stepsMax = 10
const daysMax = 90

const describe = {
  tags,
  operationId: 'getAnalyticsFunnel',
  summary: 'Get how many visitors took steps in their order, not billed',
  description:
    'A visitor takes a step by an event that meets its filter, after the step before and within the time from the ' +
    'first. Of several tries the one that got farthest counts.',
  headers: ScopeHeaders,
  body: exactly({
    ...selectionQuery,
    steps: Type.Array(FreeFilterText, {
      ...{ minItems: 2, maxItems: stepsMax },
      description: 'Filters, the first step first.',
      examples: [['page_path:eq:/pricing', 'event_type:eq:form_submission']],
    }),
    within_ms: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: daysMax * dayMs, default: dayMs },
        description: `From the first step to the last at most, in milliseconds; ${daysMax} days at most.`,
      }),
    ),
  }),
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
        const { steps, within_ms: withinMs = dayMs } = request.body
        const filters = steps.map((text, index) => readFreeFilters(`steps/${index}`, text))
        const asked = readFiguresRequest({ headers: request.headers, query: request.body }, deps.now())
        const { reader, plan } = await openFigures(deps, request.principal, asked, reply)
        const levels = await reader.rows<FunnelRow>(funnelQuery(plan, filters, withinMs))
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
