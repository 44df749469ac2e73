import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../api/http/commonSchemas.ts'
import { bindings } from '../events/query/bind.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { placeQuery } from '../events/query/scopeQuery.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import {
  type AnalyticsPlan,
  FiguresFilterText,
  IncludeBots,
  readFiguresRequest,
} from './figuresRequest.ts'
import { hitConditions } from './hits/selectedHits.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { withoutPersons } from './sharePolicy.ts'
import { type Totals, totalColumns } from './totalsQuery.ts'

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

const minuteMs = 60_000

/** Figures of all events, or of those of a minute (since 1970) or of a `page_path`. */
interface LiveRow extends Totals {
  dimension: '' | 'minute' | 'page_path'
  value: string | null
  /** Visitors with an event since a time. */
  visitors_since: number
}

/** Selects the figures of all events, of each minute, and of the `limit` most visited pages. */
export function liveQuery(
  plan: AnalyticsPlan,
  { sinceMs, limit }: { sinceMs: number; limit: number },
): Query {
  const { bind, params } = bindings()
  return {
    sql: `WITH intDiv(ts_millis, ${minuteMs}) AS minute
SELECT multiIf(grouping(minute) = 0, 'minute', grouping(page_path) = 0, 'page_path', '') AS dimension,
  multiIf(grouping(minute) = 0, toString(minute), grouping(page_path) = 0, toString(page_path), NULL) AS value,
  ${totalColumns()},
  uniqExactIf(cookie_id, ts_millis >= ${bind('Int64', sinceMs)}) AS visitors_since
FROM hits
WHERE ${hitConditions(plan, 'events', bind).join('\n  AND ')}
GROUP BY GROUPING SETS ((minute), (page_path), ())
ORDER BY dimension, visitors DESC, events DESC, value
LIMIT ${bind('UInt32', limit)} BY dimension
SETTINGS force_grouping_standard_compatibility = 1`,
    params,
  }
}
