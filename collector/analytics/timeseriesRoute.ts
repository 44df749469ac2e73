import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { Choice, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { daysEarlier } from '../events/query/window.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import {
  type AnalyticsPlan,
  before,
  Compare,
  daysBack,
  readFiguresRequest,
  selectionQuery,
} from './figuresRequest.ts'
import { type Interval, intervalFor, intervals, pointsMax, startsOf } from './intervals.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { readRollup } from './rollup/rolledDays.ts'
import { type SeriesRow, seriesQuery } from './seriesQuery.ts'

const Point = Type.Object(
  {
    start_ms: Type.Integer({ description: 'Start of the interval.' }),
    events: Type.Integer(),
    visitors: Type.Integer({ description: 'Distinct cookies of the interval.' }),
    page_views: Type.Integer(),
  },
  { title: 'AnalyticsPoint', additionalProperties: false },
)
type Point = Static<typeof Point>

const describe = {
  tags,
  operationId: 'getAnalyticsTimeseries',
  summary: 'Get a time series of metrics by hour, day, week or month, not billed',
  description: `Includes intervals without events, with zeros. Returns at most ${pointsMax} points.`,
  querystring: strictObject({
    ...selectionQuery,
    interval: Type.Optional(
      Choice(intervals, {
        description:
          'Length of the intervals, in local time. Weeks begin on Mondays. Default: hour up to two days, day up to 92 days, week up to 400 days, otherwise month.',
      }),
    ),
    compare: Type.Optional(Compare),
  }),
  response: {
    200: Type.Object(
      {
        interval: Choice(intervals),
        timeseries: Type.Array(Point),
        previous: Nullable(Type.Array(Point), {
          description:
            'The previous period, point for point, with the start_ms of the current one. Null without compare.',
        }),
        meta: FiguresMeta,
      },
      { description: 'The points, earliest first.' },
    ),
  },
}

/** GET /api/v1/analytics/timeseries. Never billed. */
export const timeseriesRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/timeseries',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const asked = readFiguresRequest(request, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const { interval = intervalFor(plan.window), compare } = request.query
        const starts = startsOf(interval, plan.window, plan.zone)
        if (!starts)
          throw invalidParameter('interval', `must result in at most ${pointsMax} points`)
        const [timeseries, previous] = await Promise.all([
          readSeries(queryExecutor, plan, interval, starts),
          compare ? readPrevious(queryExecutor, plan, interval, starts) : null,
        ])
        return { interval, timeseries, previous, meta: metaOf(request, plan) }
      },
    )
  }

async function readSeries(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  interval: Interval,
  starts: readonly number[],
): Promise<Point[]> {
  const rolled = interval === 'hour' ? null : (await readRollup(queryExecutor, plan)).events
  const rows = await queryExecutor.rows<SeriesRow>(seriesQuery(plan, starts, rolled))
  const found = new Map(rows.map((row) => [row.start_ms, row]))
  return starts.map(
    (start_ms) => found.get(start_ms) ?? { start_ms, events: 0, visitors: 0, page_views: 0 },
  )
}

/**
 * The previous period with the starts of this one. An hour that clocks show twice has no previous one at its second
 * start; an hour that they skip belongs to the hour before it.
 */
async function readPrevious(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  interval: Interval,
  starts: readonly number[],
): Promise<Point[]> {
  const days = daysBack(plan)
  const earlier = starts.map((start) => daysEarlier(start, days, plan.zone))
  const points = await readSeries(queryExecutor, before(plan), interval, [...new Set(earlier)])
  const found = new Map(points.map((point) => [point.start_ms, point]))
  return starts.map((start_ms, index) => {
    const isFirst = earlier[index] !== earlier[index - 1]
    const point = isFirst ? found.get(earlier[index]!) : undefined
    return { ...(point ?? { events: 0, visitors: 0, page_views: 0 }), start_ms }
  })
}
