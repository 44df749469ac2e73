import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Choice, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { type Bind, bindings } from '../events/query/bind.ts'
import { EventFilterText, type Filter } from '../events/query/filter/filter.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import { behaviorTags, FiguresMeta, metaOf } from './analyticsSchemas.ts'
import {
  type AnalyticsPlan,
  readEventFilters,
  readFiguresRequest,
  selectionQuery,
} from './figuresRequest.ts'
import { hitConditions, meetsFilters } from './hits/selectedHits.ts'
import { cohortIntervals, startsOf } from './intervals.ts'
import { mayRead, openFigures } from './openFigures.ts'

const describe = {
  tags: behaviorTags,
  operationId: 'getAnalyticsRetention',
  summary: 'Get the retention of visitors by cohort, not billed',
  description:
    'A cohort is the visitors whose first event in the window is in one interval. They return in each interval ' +
    'with one of their events. All of them count in their first interval. Cohorts without visitors are included. ' +
    'Without consent a visitor is a new one every day.',
  querystring: strictObject({
    ...selectionQuery,
    interval: Type.Optional(
      Choice(cohortIntervals, {
        default: 'week',
        description: 'Length of the intervals, in local time. Weeks begin on Mondays.',
      }),
    ),
    first: Type.Optional(EventFilterText),
    returning: Type.Optional(EventFilterText),
  }),
  response: {
    200: Type.Object(
      {
        interval: Choice(cohortIntervals),
        cohorts: Type.Array(
          Type.Object(
            {
              start_ms: Type.Integer({ description: 'Start of the interval.' }),
              visitors: Type.Integer({
                description: 'Distinct cookies whose first event is in the interval.',
              }),
              returned: Type.Array(Type.Integer(), {
                description:
                  'How many of them have events in this interval, in the next one, and so on until the end of the window.',
              }),
            },
            { title: 'RetentionCohort', additionalProperties: false },
          ),
        ),
        meta: FiguresMeta,
      },
      { description: 'The cohorts, earliest first.' },
    ),
  },
}

export const retentionRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/retention',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const { interval = 'week', first, returning } = request.query
        const coming = {
          first: readEventFilters('first', first),
          returning: readEventFilters('returning', returning),
        }
        const asked = readFiguresRequest(request, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const starts = startsOf(interval, plan.window, plan.zone)
        if (!starts || starts.length > cohortsMax)
          throw invalidParameter('interval', `must result in at most ${cohortsMax} cohorts`)
        const rows = await queryExecutor.rows<RetentionRow>(retentionQuery(plan, coming, starts))
        const found = new Map(rows.map((row) => [`${row.cohort} ${row.again}`, row.visitors]))
        const cohorts = starts.map((start_ms, cohort) => {
          const returned = starts
            .slice(cohort)
            .map((_, later) => found.get(`${cohort} ${cohort + later}`) ?? 0)
          return { start_ms, visitors: returned[0]!, returned }
        })
        return { interval, cohorts, meta: metaOf(request, plan) }
      },
    )
  }

/** Visitors who began in one interval and returned in a later one. */
interface RetentionRow {
  /** The place of the cohort's interval, from 0. */
  cohort: number
  /** The place of the interval in which they returned. */
  again: number
  visitors: number
}

/** The conditions for a visitor's beginning and return. */
interface Coming {
  /** Filters of the event with which a visitor begins. */
  readonly first: readonly Filter[]
  /** Filters of the event with which a visitor returns. */
  readonly returning: readonly Filter[]
}

/** The most intervals of a window: a visitor's intervals are bits of one number. */
const cohortsMax = 60

/**
 * Selects, for each cohort, how many visitors returned in each interval. A cohort consists of the visitors
 * who began in one interval of the window. `starts` are the starts of the intervals, in ascending order.
 */
export function retentionQuery(
  plan: AnalyticsPlan,
  { first, returning }: Coming,
  starts: readonly number[],
): Query {
  const { bind, params } = bindings()
  const meets = (filters: readonly Filter[]) => meetsFilters(filters, plan, 'events', bind)
  return {
    sql: `SELECT cohort, again, count() AS visitors
FROM (
WITH ${placeSql(starts, bind)} AS place,
  ${meets(first)} AS begins,
  ${meets(returning)} AS returns
SELECT minIf(place, begins) AS cohort, groupBitOrIf(bitShiftLeft(toUInt64(1), place), returns) AS returned
FROM hits
WHERE ${[...hitConditions(plan, 'events', bind), '(begins OR returns)'].join('\n  AND ')}
GROUP BY cookie_id
HAVING countIf(begins) > 0
)
ARRAY JOIN arrayFilter(place -> place >= cohort, bitPositionsToArray(bitOr(returned, bitShiftLeft(toUInt64(1), cohort)))) AS again
GROUP BY cohort, again
ORDER BY cohort, again`,
    params,
  }
}

/** Returns SQL of the place of an event's interval: the last one that does not start after it. */
function placeSql(starts: readonly number[], bind: Bind): string {
  const bound = bind('Array(Int64)', starts)
  const places = bind(
    'Array(UInt8)',
    starts.map((_, place) => place),
  )
  return `transform(roundDown(ts_millis, ${bound}), ${bound}, ${places}, toUInt8(0))`
}
