import {
  type DayFingerprints,
  fingerprintColumns,
  fingerprintOfRows,
  hourOfEvent,
} from '../../events/query/dayFingerprints.ts'
import { dateOf, hourMs } from '../../events/query/window.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Span } from './spans.ts'

/**
 * The counted things. `events` separates bots from others. `sessions` contains sessions without events of
 * bots, `sessions_with_bots` those of all events; a session counts when it closes, half an hour after its
 * last event. A bot's event can join two sessions, so neither count follows from the other.
 */
export const countedThings = ['events', 'sessions', 'sessions_with_bots'] as const
export type CountedThing = (typeof countedThings)[number]

/**
 * A count of a day or an hour, in hours since 1970 (UTC). It is valid while its fingerprint equals that of
 * the events.
 */
export interface Run extends Span {
  readonly of: CountedThing
  readonly run_id: string
  readonly fingerprint: string
  readonly pixel_ids: readonly string[]
}

export const wholeDayOf = (day: number): Span => ({ first: day * 24, end: (day + 1) * 24 })
export const hoursOf = (day: number): Span[] =>
  Array.from({ length: 24 }, (_, hour) => ({ first: day * 24 + hour, end: day * 24 + hour + 1 }))
export const isWholeDay = ({ first, end }: Span): boolean => end - first === 24
export const dayOf = ({ first }: Span): number => Math.floor(first / 24)

/** Events arrive some seconds after they happened. */
const settleMs = 60_000

/** Returns the current hour, or one that ended less than a minute ago; earlier hours may be counted. */
export const hourUnderWay = (nowMs: number): number => Math.floor((nowMs - settleMs) / hourMs)

/**
 * How many days before today have counted hours. The period before a current thirty-day period ends within
 * them.
 */
export const daysOfHours = 31

/** Increase it when the counted content changes, which invalidates earlier counts. */
const version = 3
/** The prefix of an hour's fingerprint after the version, which distinguishes it from that of a day. */
const ofHour = 'hour'

/** How many earlier days the sessions of a day may depend on (events/query/sessionSplit.ts). */
const daysBefore: Record<CountedThing, number> = { events: 0, sessions: 3, sessions_with_bots: 3 }
export const daysBeforeMax = Math.max(...Object.values(daysBefore))

/**
 * Returns the fingerprint of the state that a run of a day or an hour counts, from the fingerprints of days
 * and hours. Empty if the day has no events, or its hours were not read. Sessions of an hour depend on the
 * hours of the previous day.
 */
export function fingerprintOf(
  of: CountedThing,
  span: Span,
  { days, hours, hoursFromDay }: DayFingerprints,
): string {
  const day = dayOf(span)
  if (!days.has(day)) return ''
  const before = Array.from(
    { length: daysBefore[of] },
    (_, index) => days.get(day - index - 1) ?? '',
  )
  if (isWholeDay(span)) return [version, days.get(day), ...before].join(',')
  if (day < hoursFromDay) return ''
  const fromHour = of === 'events' ? span.first : day * 24
  const ofHours = Array.from(
    { length: span.end - fromHour },
    (_, index) => hours.get(fromHour + index) ?? '',
  )
  return [version, ofHour, ...ofHours, ...before].join(',')
}

/**
 * Whether visitors may be missing since a run. Late events only add to an hour, and hours are counted often.
 * In a day they are too rare to distinguish.
 */
export function mayHaveLostVisitors(run: Run, fingerprints: DayFingerprints): boolean {
  const now = fingerprintOf(run.of, run, fingerprints)
  if (isWholeDay(run)) return now !== run.fingerprint
  return run.of === 'events' && eventsOf(now) < eventsOf(run.fingerprint)
}

/** Returns the number of events in an hour's fingerprint. */
const eventsOf = (fingerprint: string): number => Number(/(\d+) \d+$/.exec(fingerprint)?.[1] ?? 0)

/** Reads the runs of a project's days from `fromDay` to `toDay`, both inclusive, and of their hours. */
export const readRuns = (
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectId: string,
  fromDay: number,
  toDay: number,
): Promise<Run[]> =>
  clickhouse.rows<Run>({
    sql: `SELECT of, toUInt32(date) * 24 + if(hour = 0, 0, hour - 1) AS first, first + if(hour = 0, 24, 1) AS end,
            run_id, fingerprint, pixel_ids
          FROM analytics_runs FINAL
          WHERE project_id = {projectId:UUID} AND date BETWEEN toDate({from:String}) AND toDate({to:String})
            AND fingerprint != ''`,
    params: { projectId, from: dateOf(fromDay), to: dateOf(toDay) },
  })

/** Makes these runs, all of one day, the valid ones. */
export async function noteRuns(
  clickhouse: ClickHouse,
  projectId: string,
  runs: readonly Run[],
): Promise<void> {
  if (runs.length === 0) return
  const [{ of, pixel_ids }] = runs as [Run, ...Run[]]
  await clickhouse.command({
    sql: `INSERT INTO analytics_runs (project_id, of, date, hour, run_id, fingerprint, pixel_ids)
          SELECT {projectId:UUID}, {of:String}, toDate({day:String}), hour, run_id, fingerprint, {pixelIds:Array(UUID)}
          FROM (SELECT {hours:Array(UInt8)} AS hour, {runIds:Array(UUID)} AS run_id, {fingerprints:Array(String)} AS fingerprint)
          ARRAY JOIN hour, run_id, fingerprint`,
    params: {
      projectId,
      of,
      day: dateOf(dayOf(runs[0]!)),
      pixelIds: pixel_ids,
      hours: runs.map((run) => (isWholeDay(run) ? 0 : (run.first % 24) + 1)),
      runIds: runs.map(({ run_id }) => run_id),
      fingerprints: runs.map(({ fingerprint }) => fingerprint),
    },
  })
}

/** Days with fewer events are read quickly from the events. */
export const eventsWorthCounting = 5_000

/** Returns the projects with past days or hours whose events have changed since the last count. */
export async function readStaleProjects(clickhouse: ClickHouse, nowMs: number): Promise<string[]> {
  const untilHour = hourUnderWay(nowMs)
  const today = Math.floor(nowMs / (24 * hourMs))
  const rows = await clickhouse.rows<{ project_id: string }>({
    sql: `WITH by_hour AS (
            SELECT *, intDiv(hour_number, 24) AS day, sum(events) OVER (PARTITION BY project_id, day) AS events_of_day
            FROM (
              SELECT project_id, ${hourOfEvent} AS hour_number, ${fingerprintColumns}
              FROM events GROUP BY project_id, ${hourOfEvent}
            )
          )
          SELECT project_id FROM (
            SELECT project_id, part.1 AS date, part.2 AS hour, concat(part.3, ${fingerprintOfRows}) AS fingerprint
            FROM by_hour
            ARRAY JOIN arrayFilter(part ->
                if(part.2 = 0, day < {today:Int64}, hour_number >= {fromHour:Int64} AND hour_number < {untilHour:Int64}), [
              (toDate(toUInt16(day)), toUInt8(0), {ofDay:String}),
              (toDate(toUInt16(day)), toUInt8(hour_number % 24 + 1), {ofHour:String})
            ]) AS part
            WHERE events_of_day >= {eventsMin:UInt32}
            GROUP BY project_id, part
            UNION ALL
            SELECT project_id, date, hour, fingerprint FROM analytics_runs FINAL
            WHERE of = 'events' AND fingerprint NOT IN ('', {ofHour:String})
          )
          GROUP BY project_id, date, hour, fingerprint HAVING count() = 1
          LIMIT 1 BY project_id`,
    params: {
      eventsMin: eventsWorthCounting,
      today,
      fromHour: (today - daysOfHours) * 24,
      untilHour,
      ofDay: `${version},`,
      ofHour: `${version},${ofHour},`,
    },
  })
  return rows.map(({ project_id }) => project_id)
}
