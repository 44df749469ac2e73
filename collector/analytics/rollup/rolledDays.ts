import type { Reader } from '../../access/reader.ts'
import type { Bind } from '../../query/bind.ts'
import { readFingerprints } from '../../query/fingerprints.ts'
import { dayMs } from '../../query/window.ts'
import type { AnalyticsPlan } from '../plan.ts'
import { type CountedThing, daysBeforeMax, fingerprintOf, type Run, readRuns } from './runs.ts'

/** Days since 1970 (UTC), the end exclusive. */
export interface Span {
  readonly first: number
  readonly end: number
}

/** What of a window's days was counted before, and which of them must be read from the events. */
export interface RolledDays {
  readonly projectId: string
  readonly firstDay: number
  /** The day in which the window ends. */
  readonly lastDay: number
  /** Of the days whose counts may be read. */
  readonly runIds: readonly string[]
  /** The others. */
  readonly scanned: readonly Span[]
}

type Rollup = Readonly<Record<CountedThing, RolledDays | null>>

/** A window shorter than this is read from the events at once. */
const daysMin = 2

/**
 * Which days of a plan's window have counts that equal their events now; null where nothing can be read from counts:
 * they are made of whole days (UTC) of one project, without filters.
 */
export async function readRollup(
  reader: Pick<Reader, 'rows'>,
  { scope, window, filters }: AnalyticsPlan,
): Promise<Rollup> {
  const { projectId, campaignId, pixelId } = scope
  const { startMs, endMs } = window
  const isWhole = startMs % dayMs === 0 && endMs - startMs >= daysMin * dayMs
  if (projectId === null || campaignId !== null || filters.length > 0 || !isWhole)
    return { events: null, sessions: null }
  const [firstDay, lastDay] = [startMs / dayMs, Math.floor(endMs / dayMs)]
  const [fingerprints, runs] = await Promise.all([
    readFingerprints(reader, [projectId], firstDay - daysBeforeMax, lastDay - 1),
    readRuns(reader, projectId, firstDay, lastDay - 1),
  ])
  const isValid = ({ of, day, fingerprint, pixel_ids }: Run) =>
    fingerprint === fingerprintOf(of, day, fingerprints) &&
    (pixelId === null || pixel_ids.every((id) => id === pixelId))
  const rolledOf = (thing: CountedThing): RolledDays | null => {
    const counted = runs.filter((run) => run.of === thing && isValid(run))
    if (counted.length === 0) return null
    const days = new Set(counted.map(({ day }) => day))
    const others: number[] = []
    for (let day = firstDay; day <= lastDay; day++) if (!days.has(day)) others.push(day)
    const runIds = counted.map(({ run_id }) => run_id)
    return { projectId, firstDay, lastDay, runIds, scanned: spansOf(others) }
  }
  return { events: rolledOf('events'), sessions: rolledOf('sessions') }
}

/** Ascending days as spans of those that follow one another. */
function spansOf(days: readonly number[]): Span[] {
  const spans: Span[] = []
  for (const day of days) {
    const last = spans.at(-1)
    if (last?.end === day) spans[spans.length - 1] = { first: last.first, end: day + 1 }
    else spans.push({ first: day, end: day + 1 })
  }
  return spans
}

/** SQL: rows of a table of counts that were counted last, of these dimensions. */
export function rolledRows(
  { projectId, firstDay, lastDay, runIds }: RolledDays,
  dimensions: readonly string[],
  bind: Bind,
): string {
  return `project_id = ${bind('UUID', projectId)} AND dimension IN ${bind('Array(String)', dimensions)}
  AND date >= toDate(toUInt16(${bind('Int64', firstDay)})) AND date < toDate(toUInt16(${bind('Int64', lastDay)}))
  AND run_id IN ${bind('Array(UUID)', runIds)}`
}

/** SQL: whether a time lies in one of the spans, in `perDay` units each day. */
export function inSpans(value: string, spans: readonly Span[], perDay: number, bind: Bind): string {
  const conditions = spans.map(
    ({ first, end }) =>
      `${value} >= ${bind('Int64', first * perDay)} AND ${value} < ${bind('Int64', end * perDay)}`,
  )
  return `(${conditions.map((condition) => `(${condition})`).join(' OR ')})`
}
