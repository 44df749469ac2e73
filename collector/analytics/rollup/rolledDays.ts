import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Bind } from '../../events/query/bind.ts'
import { type DayFingerprints, readDayFingerprints } from '../../events/query/dayFingerprints.ts'
import { restMs } from '../../events/query/sessionSplit.ts'
import { dayOf, startOfDay } from '../../events/query/window/localDays.ts'
import type { TimeZone } from '../../platform/timeZone.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { isStoredFilter, storedSessionFields } from './countedFields.ts'
import {
  type CountedThing,
  daysBeforeMax,
  eventsOfDay,
  fingerprintOf,
  isWholeDay,
  type Run,
  readRuns,
} from './runs.ts'
import { joinSpans, type Span, spansBetween } from './spans.ts'

/** The counted part of a window, and the times that must be read from events. */
export interface RolledDays {
  readonly projectId: string
  readonly firstDay: number
  /** The day in which the window ends. */
  readonly lastDay: number
  /** The runs of the days and hours whose counts are valid. */
  readonly runIds: readonly string[]
  /** About how many events the days have, also outside of the counted hours. */
  readonly events: number
  /**
   * The other times, epoch milliseconds; the last ends half an hour after the window, when its last session
   * has closed.
   */
  readonly scanned: readonly Span[]
}

/** The counted parts for figures of events, and of sessions. */
export interface Rollup {
  /** Counts of events, of plans without filters. */
  readonly events: RolledDays | null
  /** Counts of sessions, of plans without filters; with filters on sessions alone, the same as `rows`. */
  readonly sessions: RolledDays | null
  /** Rows of `counted_sessions`, for plans without filters on events. */
  readonly visits: RolledDays | null
  /** The same, for plans with filters on events as well. */
  readonly rows: RolledDays | null
}

export type SharedReader = Pick<QueryExecutor, 'sharedRows'>

/**
 * Number of days before the window's last day whose hours are also read, because the previous day may not be
 * counted yet.
 */
const daysByHour = 1

/** Nothing is read from counts. */
export const noRollup: Rollup = { events: null, sessions: null, visits: null, rows: null }

/**
 * Days and hours of a plan's window with counts that equal their current events. Null if nothing can be read
 * from counts: they cover complete local days of one project, and hours of the last. Plans with filters are read from
 * rows of `counted_sessions` (sessionRows.ts, eventRows.ts), which have the fields of countedFields.ts.
 */
export async function readRollup(
  reader: SharedReader,
  { scope, window, zone, filters, sessionFilters = [], bots }: AnalyticsPlan,
): Promise<Rollup> {
  const { projectId, campaignId, pixelId } = scope
  const { startMs, endMs } = window
  const [firstDay, lastDay] = [dayOf(startMs, zone), dayOf(endMs, zone)]
  const beginsWithDay = startOfDay(firstDay, zone) === startMs
  if (projectId === null || campaignId !== null || !beginsWithDay) return noRollup
  const areStored =
    bots !== 'only' &&
    filters.every(isStoredFilter) &&
    sessionFilters.every(({ field }) => storedSessionFields.includes(field!.name))
  const isFiltered = filters.length + sessionFilters.length > 0
  if (isFiltered && !areStored) return noRollup
  const counted = await readCounted(reader, { projectId, firstDay, lastDay, zone })
  if (!counted) return noRollup
  const { runs, fingerprints } = counted
  const isValid = (run: Run) =>
    run.end <= endMs &&
    run.fingerprint === fingerprintOf(run.of, run, fingerprints, zone) &&
    (pixelId === null || run.pixel_ids.every((id) => id === pixelId))
  const rolledOf = (thing: CountedThing): RolledDays | null => {
    const valid = runs.filter((run) => run.of === thing && isValid(run))
    const days = new Set(valid.filter(isWholeDay).map(({ day }) => day))
    const spans = valid
      .filter((run) => isWholeDay(run) || !days.has(run.day))
      .sort((one, other) => one.first - other.first)
    if (spans.length === 0) return null
    const scanned = spansBetween(joinSpans(spans), { first: startMs, end: endMs + restMs })
    return {
      projectId,
      firstDay,
      lastDay,
      runIds: spans.map(({ run_id }) => run_id),
      events: eventsOfDays(new Set(spans.map(({ day }) => day)), fingerprints),
      scanned,
    }
  }
  const rows = areStored ? rolledOf('session_rows') : null
  const visits = filters.length > 0 ? null : rows
  if (isFiltered) return { events: null, sessions: visits, visits, rows }
  return {
    events: rolledOf('events'),
    sessions: rolledOf(bots === 'included' ? 'sessions_with_bots' : 'sessions'),
    visits,
    rows,
  }
}

const eventsOfDays = (days: ReadonlySet<number>, fingerprints: DayFingerprints): number =>
  [...days].reduce((sum, day) => sum + eventsOfDay(fingerprints, day), 0)

/** Local days of a project, both inclusive, as days since 1970. */
interface ProjectDays {
  readonly projectId: string
  readonly firstDay: number
  readonly lastDay: number
  readonly zone: TimeZone
}

/** The runs of days and hours, and the fingerprints of their events, which tell the valid ones. */
interface CountedDays {
  readonly runs: readonly Run[]
  readonly fingerprints: DayFingerprints
}

/**
 * Null for projects without counts. A page of the dashboard asks for many figures of the same days at once, and a request
 * for several of them. They share these reads.
 */
async function readCounted(
  { sharedRows: rows }: SharedReader,
  { projectId, firstDay, lastDay, zone }: ProjectDays,
): Promise<CountedDays | null> {
  // Most projects are too small to be counted, and fingerprints take longer to read than runs.
  const runs = await readRuns({ rows }, projectId, firstDay, lastDay, zone)
  if (runs.length === 0) return null
  const fingerprints = await readDayFingerprints(
    { rows },
    [projectId],
    firstDay - daysBeforeMax,
    lastDay,
    lastDay - daysByHour,
    zone,
  )
  return { runs, fingerprints }
}

/** Returns SQL of the valid rows of a table of counts, for these dimensions. */
export const rolledRows = (rolled: RolledDays, dimensions: readonly string[], bind: Bind): string =>
  `${runRows(rolled, bind)} AND dimension IN ${bind('Array(String)', dimensions)}`

/** Returns SQL of the valid rows of a table of counts. */
export function runRows({ projectId, firstDay, lastDay, runIds }: RolledDays, bind: Bind): string {
  return `project_id = ${bind('UUID', projectId)}
  AND date >= toDate(toUInt16(${bind('Int64', firstDay)})) AND date <= toDate(toUInt16(${bind('Int64', lastDay)}))
  AND run_id IN ${bind('Array(UUID)', runIds)}`
}
