import { invalidParameter } from '../http/errors.ts'
import {
  type Asked,
  type ReadRequest,
  readNames,
  readParameters,
  readScope,
  type Selection,
  windowParameters,
} from '../query/plan.ts'
import { dayMs, readWindow } from '../query/window.ts'

/** What statistics can be grouped by: columns of `events`, and the day (UTC). */
export const groupings = ['day', 'project', 'pixel'] as const
export type Grouping = (typeof groupings)[number]

export const daysDefault = 30
export const daysMax = 366

/** How many of the events that pixels captured, and of their visitors, are identified. */
export interface StatisticsPlan extends Selection {
  readonly groups: readonly Grouping[]
}

export const statisticsParameters = ['project_id', 'pixel_id', ...windowParameters, 'group_by'] as const

/** Reads a request for statistics. Throws 400 that names the parameter. */
export function readStatisticsRequest(request: ReadRequest, nowMs: number): Asked<StatisticsPlan> {
  const given = readParameters(request.query, statisticsParameters)
  const window = readWindow(given, nowMs, false, daysDefault * dayMs)
  if (window.endMs - window.startMs > daysMax * dayMs) {
    const parameter = given.start_time === undefined ? 'start_ms' : 'start_time'
    throw invalidParameter(parameter, `must be at most ${daysMax} days before the end`)
  }
  return {
    asked: readScope(given, request),
    plan: { source: 'pixel', filters: [], window, groups: readGroupings(given.group_by) },
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
