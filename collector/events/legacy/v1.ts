import type { RequestedScope } from '../../access/scope.ts'
import { invalidParameter } from '../../http/errors.ts'
import { readFreeSelection, readGroups } from '../../query/countsPlan.ts'
import {
  type Asked,
  type CountsPlan,
  limitMax,
  type ReadRequest,
  readParameters,
  readSource,
  type Source,
} from '../../query/plan.ts'
import { dayMs } from '../../query/window.ts'
import {
  type LegacyVersion,
  legacyCountsParameters,
  legacyScopeParameters,
  legacySelectionParameters,
  readNarrowestScope,
  readOneScope,
  readWholeWindow,
} from './legacy.ts'

/** Events, version 1: a window of 25 hours at most (spec: Limits). Counts and their index may reach further. */
export const v1: LegacyVersion = { windowMsMax: 25 * 3_600_000, includesEnd: false }

/** What an index of counts is made of, and the longest window of each: both have at most a few thousand entries. */
export const intervals = { hour: 31 * dayMs, day: 366 * dayMs } as const
export type Interval = keyof typeof intervals

export const indexParameters = [...legacySelectionParameters, 'interval'] as const
export const v1SchemaParameters = [...legacyScopeParameters, 'source'] as const

/** Reads a request for counts. Throws 400 that names the parameter. */
export function readV1Counts(request: ReadRequest): Asked<CountsPlan> {
  const given = readParameters(request.query, legacyCountsParameters)
  return {
    asked: readOneScope(given, request),
    plan: {
      ...readFreeSelection(given),
      window: readWholeWindow(given, v1.includesEnd),
      groups: readGroups(given.group_by),
      limit: limitMax,
    },
  }
}

/** Reads a request for the index of counts. Throws 400 that names the parameter. */
export function readV1Index(request: ReadRequest): Asked<CountsPlan> & { interval: Interval } {
  const given = readParameters(request.query, indexParameters)
  const { interval = 'hour' } = given
  if (interval !== 'hour' && interval !== 'day') throw invalidParameter('interval', 'must be hour or day')
  const window = readWholeWindow(given, v1.includesEnd)
  if (window.endMs - window.startMs > intervals[interval]) {
    const days = intervals[interval] / dayMs
    throw invalidParameter('interval', `${interval} takes a window of at most ${days} days`)
  }
  return {
    asked: readOneScope(given, request),
    interval,
    plan: {
      ...readFreeSelection(given),
      window,
      groups: readGroups(`${interval},event_type`),
      limit: limitMax,
    },
  }
}

/** Reads a request for the schema, which may name a scope and needs none. Throws 400 that names the parameter. */
export function readV1Schema(request: ReadRequest): { asked: RequestedScope; source: Source | null } {
  const given = readParameters(request.query, v1SchemaParameters)
  return { asked: readNarrowestScope(given, request), source: readSource(given.source) }
}
