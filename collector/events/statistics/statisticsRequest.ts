import { type Static, Type } from 'typebox'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { readNames } from '../../api/http/nameList.ts'
import type { Selection } from '../query/filter/selection.ts'
import type { ParsedRequest } from '../query/page/parseEventsRequest.ts'
import { placeQuery, readScope, type ScopedRequest } from '../query/scopeQuery.ts'
import { Milliseconds, readWindowOfDays, windowQuery } from '../query/window/window.ts'

/** The groupings of statistics: columns of `events`, and the day (UTC). */
const groupings = ['day', 'project', 'pixel'] as const
export type Grouping = (typeof groupings)[number]

export const daysDefault = 30
export const daysMax = 366

/** Statistics of identified events and visitors, among events that pixels captured. */
export interface StatisticsPlan extends Selection {
  readonly groups: readonly Grouping[]
}

/** The parameters of GET /api/v1/resolution/statistics. */
export const StatisticsQuery = strictObject({
  ...placeQuery,
  ...windowQuery,
  start_ms: Type.Optional(
    Milliseconds(
      `First millisecond of the window since 1970. Default: ${daysDefault} days before its end.`,
    ),
  ),
  group_by: Type.Optional(
    Type.String({
      description: `Comma-separated, any of ${groupings.join(', ')}. Days are in UTC. Without it the answer has only the total.`,
    }),
  ),
})

/** Reads a request for statistics. Throws 400 that names the parameter. */
export function readStatisticsRequest(
  request: ScopedRequest<Static<typeof StatisticsQuery>>,
  nowMs: number,
): ParsedRequest<StatisticsPlan> {
  const { query } = request
  const window = readWindowOfDays(query, nowMs, { daysDefault, daysMax })
  return {
    requestedScope: readScope(request),
    plan: { source: 'pixel', filters: [], window, groups: readGroupings(query.group_by) },
  }
}

function readGroupings(list: string | undefined): readonly Grouping[] {
  if (list === undefined) return []
  return readNames('group_by', list).map((name) => {
    const grouping = groupings.find((candidate) => candidate === name)
    if (!grouping) throw invalidParameter('group_by', `must be any of ${groupings.join(', ')}`)
    return grouping
  })
}
