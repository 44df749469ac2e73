import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Principal } from '../api/access/principal.ts'
import { objectProject } from '../api/access/projectObjects.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { Choice, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { readNames } from '../api/http/nameList.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { daysEarlier } from '../events/query/window/window.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { conversionSeriesQuery } from './conversionsQuery.ts'
import {
  type AnalyticsPlan,
  before,
  Compare,
  daysBack,
  readFiguresRequest,
  selectionQuery,
} from './figuresRequest.ts'
import { conditionsOf, type GoalConditions, readGoal, readGoals } from './goals.ts'
import { ImportedPoints, readImportedPoints } from './imported/importedDays.ts'
import { intervalFor, intervals, isWithinDay, pointsMax, startsOf } from './intervals.ts'
import { mayRead, openFigures } from './openFigures.ts'
import {
  type SeriesRow,
  type SessionSeriesRow,
  seriesQuery,
  sessionSeriesQuery,
} from './totalsQuery.ts'

const Point = Type.Object(
  {
    start_ms: Type.Integer({ description: 'Start of the interval.' }),
    events: Type.Integer(),
    visitors: Type.Integer({ description: 'Distinct cookies of the interval.' }),
    page_views: Type.Integer(),
    sessions: Nullable(Type.Integer(), {
      description:
        'Sessions whose first event is in the interval. Null without `include=sessions`.',
    }),
    bounce_rate: Nullable(Type.Number(), {
      description:
        'Share of these sessions with exactly one page view among those with page views: from 0 to 1. Null without such ' +
        'sessions, and without `include=sessions`.',
    }),
    time_on_page_ms: Nullable(Type.Number(), {
      description:
        'As in the overview, of these sessions. Null without page views, and without `include=sessions`.',
    }),
    converted: Nullable(Type.Integer(), {
      description:
        'Distinct cookies that reach any goal, or `goal`, in the interval. Null without `include=conversions`.',
    }),
  },
  { title: 'AnalyticsPoint', additionalProperties: false },
)
type Point = Static<typeof Point>

/** Additional figures of points, on request. */
const includes = ['sessions', 'conversions'] as const
type Include = (typeof includes)[number]

const describe = {
  tags,
  operationId: 'getAnalyticsTimeseries',
  summary: 'Get a time series of metrics by minute, hour, day, week or month, not billed',
  description: `Includes intervals without events, with zeros. Returns at most ${pointsMax} points.`,
  querystring: strictObject({
    ...selectionQuery,
    interval: Type.Optional(
      Choice(intervals, {
        description:
          'Length of the intervals, in local time. Weeks begin on Mondays. Minutes are for up to 25 hours. Default: hour up to two days, day up to 92 days, week up to 400 days, otherwise month.',
      }),
    ),
    compare: Type.Optional(Compare),
    include: Type.Optional(
      Type.String({
        description: `Comma-separated: ${includes.join(', ')}. Sessions add bounce rate and time on page; conversions require project_id.`,
        examples: ['sessions'],
      }),
    ),
    goal: Type.Optional(
      Type.String({
        description:
          'The name of a goal of the project, which alone counts as a conversion. Requires include=conversions.',
        examples: ['Ordered'],
      }),
    ),
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
        imported: Type.Optional(ImportedPoints),
        meta: FiguresMeta,
      },
      { description: 'The points, earliest first.' },
    ),
  },
}

export const timeseriesRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/timeseries',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const asked = readFiguresRequest(request, deps.now())
        const include = readIncludes(request.query.include)
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const { interval = intervalFor(plan.window), compare } = request.query
        const starts = startsOf(interval, plan.window, plan.zone)
        if (!starts)
          throw invalidParameter('interval', `must result in at most ${pointsMax} points`)
        const { project_id, goal } = request.query
        const hasConversions = include.includes('conversions')
        if (goal !== undefined && !hasConversions)
          throw invalidParameter('goal', 'requires include=conversions')
        const goals = hasConversions
          ? await readGoalConditions(deps, request.principal, project_id, goal)
          : null
        const wanted: Wanted = { starts, hasSessions: include.includes('sessions'), goals }
        const [timeseries, previous, imported] = await Promise.all([
          readSeries(queryExecutor, plan, wanted, starts),
          compare ? readSeries(queryExecutor, before(plan), wanted, earlier(starts, plan)) : null,
          // Imported figures are of days.
          isWithinDay(interval) ? {} : readImportedPoints(queryExecutor, plan, starts),
        ])
        return { interval, timeseries, previous, ...imported, meta: metaOf(request, plan) }
      },
    )
  }

function readIncludes(list: string | undefined): readonly Include[] {
  if (list === undefined) return []
  return readNames('include', list).map((name) => {
    const found = includes.find((include) => include === name)
    if (!found) throw invalidParameter('include', `"${name}" is none of ${includes.join(', ')}`)
    return found
  })
}

async function readGoalConditions(
  { postgres }: ReadDeps,
  principal: Principal,
  project: string | undefined,
  name: string | undefined,
): Promise<GoalConditions[]> {
  if (project === undefined) throw invalidParameter('include', 'conversions require project_id')
  if (name !== undefined) return [conditionsOf(await readGoal(postgres, principal, project, name))]
  const projectId = await objectProject(postgres, principal, project, 'read')
  const { goals } = await readGoals(postgres, projectId)
  return goals.map(conditionsOf)
}

/** The points of a series, with their figures in addition to events. */
interface Wanted {
  readonly starts: readonly number[]
  readonly hasSessions: boolean
  readonly goals: readonly GoalConditions[] | null
}

/** The points at the starts of a series, from the intervals of the plan that begin at `places`; null: from none. */
async function readSeries(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  { starts, hasSessions, goals }: Wanted,
  places: readonly (number | null)[],
): Promise<Point[]> {
  const begins = places.filter((place) => place !== null)
  const [events, sessions, conversions] = await Promise.all([
    queryExecutor.rows<SeriesRow>(seriesQuery(plan, begins)),
    hasSessions ? queryExecutor.rows<SessionSeriesRow>(sessionSeriesQuery(plan, begins)) : null,
    goals
      ? queryExecutor.rows<{ start_ms: number; converted: number }>(
          conversionSeriesQuery(plan, goals, begins),
        )
      : null,
  ])
  const [eventsAt, sessionsAt, conversionsAt] = [
    byStart(events),
    byStart(sessions),
    byStart(conversions),
  ]
  return starts.map((start_ms, index) => {
    const place = places[index]!
    const started = sessionsAt.get(place)
    return {
      ...{ events: 0, visitors: 0, page_views: 0, ...eventsAt.get(place), start_ms },
      sessions: sessions && (started?.sessions ?? 0),
      bounce_rate: started?.viewing_sessions
        ? started.bounced_sessions / started.viewing_sessions
        : null,
      time_on_page_ms: started?.viewed_pages ? started.page_ms / started.viewed_pages : null,
      converted: conversions && (conversionsAt.get(place)?.converted ?? 0),
    }
  })
}

const byStart = <Row extends { start_ms: number }>(rows: readonly Row[] | null) =>
  new Map<number | null, Row>(rows?.map((row) => [row.start_ms, row]))

/**
 * The starts of the previous period. An hour that clocks show twice has none for its second start. An hour that they
 * skip belongs to the hour before it.
 */
function earlier(starts: readonly number[], plan: AnalyticsPlan): (number | null)[] {
  const days = daysBack(plan)
  const found = starts.map((start) => daysEarlier(start, days, plan.zone))
  return found.map((start, index) => (start === found[index - 1] ? null : start))
}
