import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { bindings } from '../events/query/bind.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import {
  type AnalyticsPlan,
  readEventFilters,
  readFiguresRequest,
  selectionQuery,
} from './figuresRequest.ts'
import { hitConditions } from './hits/selectedHits.ts'
import { mayRead, openFigures } from './openFigures.ts'

const metrics = ['LCP', 'INP', 'CLS', 'FCP', 'TTFB'] as const

/** The metrics of a page, or of all pages. */
interface VitalsRow extends Record<Lowercase<(typeof metrics)[number]>, number | null> {
  is_overall: boolean
  page_path: string | null
  samples: number
}

/** The metrics at the 75th percentile: one row for all pages, then the pages with the most measurements. */
function webVitalsQuery(plan: AnalyticsPlan, pagesMax: number): Query {
  const { bind, params } = bindings()
  const value = "JSONExtract(event_data, 'properties', 'value', 'Nullable(Float64)')"
  const name = "JSONExtractString(event_data, 'properties', 'name')"
  const columns = metrics.map((metric) => {
    const measured = `isNotNull(${value}) AND ${name} = '${metric}'`
    return `if(countIf(${measured}) = 0, NULL, quantileIf(0.75)(assumeNotNull(${value}), ${measured})) AS ${metric.toLowerCase()}`
  })
  return {
    sql: `SELECT grouping(page_path) = 1 AS is_overall, page_path, ${columns.join(', ')}, count() AS samples
FROM hits
WHERE ${hitConditions(plan, 'events', bind).join('\n  AND ')}
GROUP BY GROUPING SETS ((), (page_path))
ORDER BY is_overall DESC, samples DESC, page_path
LIMIT ${bind('UInt32', pagesMax + 1)}
SETTINGS force_grouping_standard_compatibility = 1`,
    params,
  }
}

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
