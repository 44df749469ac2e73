import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { readEventFilters, readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { metrics, type VitalsRow, webVitalsQuery } from './webVitalsQuery.ts'

const pagesMax = 100
/** The events that the pixel sends, one for each metric of a page view. */
const vitalsFilter = 'event_type:eq:custom,event_data.name:eq:web_vitals'

const units = {
  LCP: 'milliseconds',
  INP: 'milliseconds',
  CLS: 'no unit',
  FCP: 'milliseconds',
  TTFB: 'milliseconds',
}

const Metrics = Object.fromEntries(
  metrics.map((metric) => [
    metric.toLowerCase(),
    Nullable(Type.Number(), {
      description: `${metric} at the 75th percentile (${units[metric]}). Null without measurements.`,
    }),
  ]),
)

const Vitals = { ...Metrics, samples: Type.Integer({ description: 'Number of measurements.' }) }

const describe = {
  tags,
  operationId: 'getAnalyticsWebVitals',
  summary: 'Get Web Vitals by page, not billed',
  description: `Returns Core Web Vitals at the 75th percentile, for all pages and for the ${pagesMax} pages with the most measurements. The pixel measures them if its setting \`web_vitals\` is on.`,
  querystring: strictObject(selectionQuery),
  response: {
    200: Type.Object(
      {
        overall: Type.Object(Vitals, { title: 'WebVitals' }),
        pages: Type.Array(
          Type.Object({ page_path: Type.String(), ...Vitals }, { title: 'WebVitalsOfPage' }),
        ),
        meta: FiguresMeta,
      },
      { description: 'The measurements.' },
    ),
  },
}

/** GET /api/v1/analytics/web-vitals. Never billed. */
export const webVitalsRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/web-vitals',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const asked = readFiguresRequest(request, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const filters = [...plan.filters, ...readEventFilters('filter', vitalsFilter)]
        const rows = await queryExecutor.rows<VitalsRow>(
          webVitalsQuery({ ...plan, filters }, pagesMax),
        )
        const overall = rows.find(({ is_overall }) => is_overall)!
        return {
          overall: figuresOf(overall),
          pages: rows
            .filter(({ is_overall, page_path }) => !is_overall && page_path !== null)
            .map((row) => ({ page_path: row.page_path!, ...figuresOf(row) })),
          meta: metaOf(request, plan),
        }
      },
    )
  }

const figuresOf = ({ is_overall: _, page_path: __, ...figures }: VitalsRow) => figures
