/** Figures of windows with very many events are estimated from a part of the visitors, so that they arrive in time. */
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { hourOfEvent } from '../events/query/dayFingerprints.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { sampleParts } from '../events/query/filter/filterSql.ts'
import { isAboutSessions } from '../events/query/sessions.ts'
import { hourMs } from '../events/query/window/window.ts'
import { FiguresMeta, metaOf } from './analyticsSchemas.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'

/** One of so many visitors: divisors of sampleParts. A smaller sample is a part of a larger one. */
const shares = [2, 5, 10, 20, 50, 100, 200, 500, sampleParts]

/** The rows that a read collects. */
export type Reading = 'counted sessions' | 'events' | 'sessions of events'

/** The most events in a window whose figures are exact. Collecting the events of sessions costs most. */
export const exactEventsMax: Readonly<Record<Reading, number>> = {
  'counted sessions': 30_000_000,
  events: 20_000_000,
  'sessions of events': 5_000_000,
}

/** Returns the reading that events of a plan need, if further filters on events also decide. */
export const readingOf = (
  { filters, sessionFilters = [] }: AnalyticsPlan,
  more: readonly Filter[] = [],
): Reading =>
  sessionFilters.length > 0 || isAboutSessions([...filters, ...more])
    ? 'sessions of events'
    : 'events'

/**
 * Returns the n of a sample of one of n visitors for a window with so many events; 1 reads all of them. A sample has at
 * most half as many events as an exact read, because it must find them among the others.
 */
export function sampleFor(events: number, eventsMax: number): number {
  if (events <= eventsMax) return 1
  return shares.find((share) => events / share <= eventsMax / 2) ?? shares.at(-1)!
}

/** Returns the plan with the sample that its window needs; exact up to `eventsMax` events. */
export async function withSample(
  reader: Pick<QueryExecutor, 'rows'>,
  plan: AnalyticsPlan,
  reading: Reading,
  eventsMax = exactEventsMax[reading],
): Promise<AnalyticsPlan> {
  const { scope, window } = plan
  // A projection has these counts, so no event is read.
  const [found] = await reader.rows<{ events: number }>({
    sql: `SELECT sum(events) AS events FROM (
            SELECT count() AS events FROM events
            WHERE project_id IN {projectIds:Array(UUID)}
              AND ${hourOfEvent} >= {fromHour:Int64} AND ${hourOfEvent} < {endHour:Int64}
            GROUP BY project_id, ${hourOfEvent}
          )`,
    params: {
      projectIds: scope.projectId === null ? (scope.projectIds ?? []) : [scope.projectId],
      fromHour: Math.floor(window.startMs / hourMs),
      endHour: Math.ceil(window.endMs / hourMs),
    },
  })
  const oneVisitorOf = sampleFor(found!.events, eventsMax)
  return oneVisitorOf === 1 ? plan : { ...plan, oneVisitorOf }
}

/** Returns a number of visitors or sessions, estimated from that of the sample. */
export const estimated = ({ oneVisitorOf = 1 }: AnalyticsPlan, found: number): number =>
  found * oneVisitorOf

/** For descriptions of routes. */
export const sampleNote =
  'Windows with many millions of events are estimated from a part of the visitors, which `meta.sample_fraction` states.'

/** The meta of figures that may be estimated. */
export const SampledMeta = Type.Object(
  {
    ...FiguresMeta.properties,
    sample_fraction: Type.Number({
      description:
        'Fraction of the visitors that the figures are estimated from, chosen by a hash of the cookie. 1: the figures ' +
        'are exact.',
      examples: [1],
    }),
  },
  { title: 'SampledFiguresMeta' },
)

export const sampledMetaOf = (
  request: FastifyRequest,
  plan: AnalyticsPlan,
): Static<typeof SampledMeta> => ({
  ...metaOf(request, plan),
  sample_fraction: 1 / (plan.oneVisitorOf ?? 1),
})
