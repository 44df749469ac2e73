import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../api/http/commonSchemas.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { placeQuery } from '../events/query/scopeQuery.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { FiguresFilterText, IncludeBots, readFiguresRequest } from './figuresRequest.ts'
import { type LiveRow, liveQuery, minuteMs } from './liveQuery.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { withoutPersons } from './sharePolicy.ts'
import type { Totals } from './totalsQuery.ts'

const minutes = 30
const nowMinutes = 5
const pages = 5

const describe = {
  tags,
  operationId: 'getAnalyticsLive',
  summary: 'Get real-time metrics of the last half hour, not billed',
  description:
    'Returns one row for each minute, the current minute last. An event appears a few seconds after it was received.',
  querystring: strictObject({
    ...placeQuery,
    filter: Type.Optional(FiguresFilterText),
    include_bots: IncludeBots,
  }),
  response: {
    200: Type.Object(
      {
        visitors_now: Type.Integer({
          description: `Distinct cookies of the last ${nowMinutes} minutes.`,
        }),
        visitors: Type.Integer({ description: 'Distinct cookies of the half hour.' }),
        page_views: Type.Integer(),
        events: Type.Integer(),
        minutes: Type.Array(
          Type.Object(
            {
              start_ms: Type.Integer(),
              visitors: Type.Integer(),
              page_views: Type.Integer(),
              events: Type.Integer(),
            },
            { title: 'LiveMinute', additionalProperties: false },
          ),
        ),
        pages: Type.Array(
          Type.Object(
            { page_path: Type.String(), visitors: Type.Integer(), page_views: Type.Integer() },
            { title: 'LivePage', additionalProperties: false },
          ),
          { description: `The ${pages} pages with the most visitors.` },
        ),
        meta: FiguresMeta,
      },
      { description: 'The last half hour.' },
    ),
  },
}

/** GET /api/v1/analytics/live. Never billed. */
export const liveRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/live',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const now = deps.now()
        const firstMs = (Math.floor(now / minuteMs) - minutes + 1) * minuteMs
        const asked = readFiguresRequest(
          { query: { ...request.query, start_ms: firstMs, end_ms: now + 1 } },
          now,
        )
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const rows = await queryExecutor.rows<LiveRow>(
          liveQuery(plan, { sinceMs: now - nowMinutes * minuteMs, limit: minutes }),
        )
        const of = (wanted: LiveRow['dimension']) =>
          rows.filter(({ dimension }) => dimension === wanted)
        const [all] = of('')
        const found = new Map(of('minute').map((row) => [Number(row.value) * minuteMs, row]))
        return {
          visitors_now: all?.visitors_since ?? 0,
          ...countsOf(all),
          minutes: Array.from({ length: minutes }, (_, index) => {
            const start_ms = firstMs + index * minuteMs
            return { start_ms, ...countsOf(found.get(start_ms)) }
          }),
          pages: withoutPersons(request.principal, of('page_path'))
            .flatMap(({ value, visitors, page_views }) =>
              value === null ? [] : [{ page_path: value, visitors, page_views }],
            )
            .slice(0, pages),
          meta: metaOf(request, plan),
        }
      },
    )
  }

const countsOf = ({ events = 0, visitors = 0, page_views = 0 }: Partial<Totals> = {}): Totals => ({
  events,
  visitors,
  page_views,
})
