import { type Static, Type } from 'typebox'
import { Choice, strictObject } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { dayMs } from '../../platform/days.ts'
import type { CountsPlan } from '../query/counts/countsPlan.ts'
import { DistinctCounted } from '../query/counts/countsPlan.ts'
import { GroupBy, readGroups } from '../query/counts/groupBy.ts'
import { FilterText } from '../query/filter/filter.ts'
import {
  everyTier,
  limitMax,
  type ParsedRequest,
  readSelection,
} from '../query/page/parseEventsRequest.ts'
import type { ScopedRequest } from '../query/scopeQuery.ts'
import { type LegacyVersion, legacySelection, readOneScope, readWholeWindow } from './legacy.ts'

/**
 * Events, version 1: a window of at most 25 hours (spec: Errors and limits). Counts and their index allow
 * longer windows.
 */
export const v1: LegacyVersion = { windowMsMax: 25 * 3_600_000, includesEnd: false }

/** The intervals of an index of counts, with their longest windows. */
const intervals = { hour: 31 * dayMs, day: 366 * dayMs } as const
export const Interval = Choice(['hour', 'day'])
export type Interval = Static<typeof Interval>

/** The parameters of GET /api/v1/event_counts. */
export const V1CountsQuery = strictObject({
  ...legacySelection,
  filter: Type.Optional(FilterText),
  distinct: Type.Optional(DistinctCounted),
  group_by: Type.Optional(GroupBy),
})

/** The parameters of GET /api/v1/event_counts_index. */
export const V1IndexQuery = strictObject({
  ...legacySelection,
  filter: Type.Optional(FilterText),
  interval: Type.Optional(
    Choice(['hour', 'day'], {
      default: 'hour',
      description: Object.entries(intervals)
        .map(
          ([interval, windowMs]) =>
            `${interval} supports a window of at most ${windowMs / dayMs} days`,
        )
        .join(', '),
    }),
  ),
})

/** Reads a request for counts. Throws 400 that names the parameter. */
export function readV1Counts(
  request: ScopedRequest<Static<typeof V1CountsQuery>>,
): ParsedRequest<CountsPlan> {
  const { query } = request
  return {
    requestedScope: readOneScope(request),
    plan: {
      ...readSelection(query, everyTier),
      window: readWholeWindow(query, v1.includesEnd),
      groups: readGroups(query.group_by),
      limit: limitMax,
    },
  }
}

/** Reads a request for the index of counts. Throws 400 that names the parameter. */
export function readV1Index(
  request: ScopedRequest<Static<typeof V1IndexQuery>>,
): ParsedRequest<CountsPlan> & { interval: Interval } {
  const { interval = 'hour', ...query } = request.query
  const window = readWholeWindow(query, v1.includesEnd)
  if (window.endMs - window.startMs > intervals[interval]) {
    const days = intervals[interval] / dayMs
    throw invalidParameter('interval', `${interval} supports a window of at most ${days} days`)
  }
  return {
    requestedScope: readOneScope(request),
    interval,
    plan: {
      ...readSelection(query, everyTier),
      window,
      groups: readGroups(`${interval},event_type`),
      limit: limitMax,
    },
  }
}
