import type { Bind } from '../../events/query/bind.ts'
import type { Bots } from '../../events/query/filter/selection.ts'
import { restMs } from '../../events/query/sessionSplit.ts'
import { startOfDay } from '../../events/query/window/localDays.ts'
import { hourMs, type Window } from '../../events/query/window/window.ts'
import type { TimeZone } from '../../platform/timeZone.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { zeroUuid } from '../rollup/runs.ts'
import { joinSpans, type Span } from '../rollup/spans.ts'
import { daysOfSession } from '../sessionRows.ts'

/** A project with days to count. */
export interface Project {
  readonly organizationId: string
  readonly projectId: string
  /** The zone of the counted days. */
  readonly zone: TimeZone
}

/**
 * The job leaves cores and time to readers. Its queries end soon after it does, so that two never run at
 * once.
 */
export const settings = `SETTINGS max_threads = 1, os_thread_priority = 19, max_execution_time = 200,
  max_memory_usage = ${2 * 1024 ** 3}, max_bytes_before_external_group_by = ${512 * 1024 ** 2}`

/**
 * A local day, or hours of one, in ascending order, in epoch milliseconds. One scan of the events counts all
 * of them.
 */
export interface Counting extends Span {
  readonly run_id: string
}

/** Returns the plan of a project's pixel events in a window. */
export const planOf = (
  { organizationId, projectId, zone }: Project,
  window: Window,
  bots: Bots = 'included',
): AnalyticsPlan => ({
  source: 'pixel',
  filters: [],
  window,
  bots,
  zone,
  scope: { organizationId, projectId, pixelId: null, campaignId: null },
})

/** Returns the window from the first to the last counted time. */
export const windowOf = (counted: readonly Counting[]): Window => ({
  startMs: counted[0]!.first,
  endMs: counted.at(-1)!.end,
})

/** Returns SQL of the run of an hour (SQL, since 1970, UTC). */
export function runSql(hour: string, counted: readonly Counting[], bind: Bind): string {
  const firstHour = Math.floor(counted[0]!.first / hourMs)
  const runs = Array.from(
    { length: Math.ceil(counted.at(-1)!.end / hourMs) - firstHour },
    (_, index) => {
      const at = (firstHour + index) * hourMs
      return counted.find(({ first, end }) => first < at + hourMs && at < end)?.run_id ?? zeroUuid
    },
  )
  return `${bind('Array(UUID)', runs)}[${hour} - ${bind('Int64', firstHour - 1)}]`
}

/** The days that have the events of the sessions of a day. */
export const nearby = (day: number, zone: TimeZone): Window => ({
  startMs: startOfDay(day - daysOfSession - 1, zone),
  endMs: startOfDay(day + 1, zone),
})

/** Begins with the earliest session that can close in the window. */
export const sessionsPlan = (
  project: Project,
  day: number,
  endMs: number,
  bots: Bots,
): AnalyticsPlan =>
  planOf(project, { startMs: startOfDay(day - daysOfSession, project.zone), endMs }, bots)

/** The window of the last events of sessions that close in a window. */
export const latelyPlan = (
  project: Project,
  { startMs, endMs }: Window,
  bots: Bots,
): AnalyticsPlan => planOf(project, { startMs: startMs - restMs, endMs }, bots)

export const closedOn = (counted: readonly Counting[]): Span[] => joinSpans(counted)

/**
 * Returns SQL of the hour since 1970 in which a session with this last event (SQL, epoch milliseconds)
 * closes.
 */
export const closingHour = (lastMs: string): string => `intDiv(${lastMs} + ${restMs}, ${hourMs})`
