import {
  type DayFingerprints,
  fingerprintColumns,
  fingerprintOfRows,
  hourOfEvent,
} from '../../events/query/dayFingerprints.ts'
import { startOfDay } from '../../events/query/window/localDays.ts'
import { dateOf, dayMs, hourMs } from '../../events/query/window/window.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type TimeZone, utc } from '../../platform/timeZone.ts'
import type { Span } from './spans.ts'

/**
 * The counted things. `events` separates bots from others. `sessions` contains sessions without events of
 * bots, `sessions_with_bots` those of all events; a session counts when it closes, half an hour after its
 * last event. A bot's event can join two sessions, so neither count follows from the other. `session_rows` are
 * sessions with their events, a row each, for filters.
 */
export const countedThings = ['events', 'sessions', 'sessions_with_bots', 'session_rows'] as const
export type CountedThing = (typeof countedThings)[number]

/** A local day, or an hour (UTC) of it, in epoch milliseconds. */
export interface DaySpan extends Span {
  /** Day since 1970, in local time. */
  readonly day: number
  /** 0: the complete day; n: its n-th hour. */
  readonly hour: number
}

/** A count of a day or an hour. It is valid while its fingerprint equals that of the events. */
export interface Run extends DaySpan {
  readonly of: CountedThing
  readonly run_id: string
  readonly fingerprint: string
  readonly pixel_ids: readonly string[]
}

/** Returns the span of a complete day. */
export const wholeDayOf = (day: number, zone: TimeZone): DaySpan => ({
  day,
  hour: 0,
  first: startOfDay(day, zone),
  end: startOfDay(day + 1, zone),
})

/**
 * Returns the hours of a day, without hours in which another day begins. Such hours exist in zones that are
 * not whole hours from UTC.
 */
export function hoursOf(day: number, zone: TimeZone): DaySpan[] {
  const { first, end } = wholeDayOf(day, zone)
  const firstHour = Math.floor(first / hourMs)
  return Array.from({ length: Math.ceil(end / hourMs) - firstHour }, (_, index) =>
    hourOf(day, index + 1, firstHour),
  ).filter((hour) => hour.first >= first && hour.end <= end)
}

const hourOf = (day: number, hour: number, firstHour: number): DaySpan => ({
  day,
  hour,
  first: (firstHour + hour - 1) * hourMs,
  end: (firstHour + hour) * hourMs,
})

export const isWholeDay = ({ hour }: DaySpan): boolean => hour === 0

/** Events arrive some seconds after they happened. */
const settleMs = 60_000

/** Returns the current hour, or one that ended less than a minute ago; earlier hours may be counted. */
export const hourUnderWay = (nowMs: number): number => Math.floor((nowMs - settleMs) / hourMs)

/**
 * How many days before today have counted hours. The period before a current thirty-day period ends within
 * them.
 */
export const daysOfHours = 31
/** The same for session_rows, of which the hours take more room. Other days that a period divides are read from events. */
const daysOfRowHours = 1

/** Whether the hours of a day are counted. */
export const hasHours = (of: CountedThing, day: number, today: number): boolean =>
  day >= today - (of === 'session_rows' ? daysOfRowHours : daysOfHours)

/** Increase it when the counted content changes, which invalidates earlier counts. */
const version = 5
/** The prefix of an hour's fingerprint after the version, which distinguishes it from that of a day. */
const ofHour = 'hour'

/** How many earlier days the sessions of a day may depend on (events/query/sessionSplit.ts). */
const daysBefore: Record<CountedThing, number> = {
  events: 0,
  sessions: 3,
  sessions_with_bots: 3,
  session_rows: 3,
}
export const daysBeforeMax = Math.max(...Object.values(daysBefore))

/**
 * Returns the fingerprint of the state that a run of a day or an hour counts, from the fingerprints of days
 * and hours. Empty if the day has no events, or its hours were not read. Sessions of an hour depend on the
 * earlier hours of its day.
 */
export function fingerprintOf(
  of: CountedThing,
  span: DaySpan,
  { days, hours, hoursFromDay }: DayFingerprints,
  zone: TimeZone,
): string {
  const { day } = span
  if (!days.has(day)) return ''
  const before = Array.from(
    { length: daysBefore[of] },
    (_, index) => days.get(day - index - 1) ?? '',
  )
  const { first, end } = wholeDayOf(day, zone)
  // Days of another zone have other bounds.
  const bounds = `${first}-${end}`
  if (isWholeDay(span)) return [version, bounds, days.get(day), ...before].join(',')
  if (day < hoursFromDay) return ''
  const fromHour = Math.floor((of === 'events' ? span.first : first) / hourMs)
  const ofHours = Array.from(
    { length: span.end / hourMs - fromHour },
    (_, index) => hours.get(fromHour + index) ?? '',
  )
  return [version, ofHour, bounds, ...ofHours, ...before].join(',')
}

/**
 * Whether visitors may be missing since a run. Late events only add to an hour, and hours are counted often.
 * In a day they are too rare to distinguish.
 */
export function mayHaveLostVisitors(
  run: Run,
  fingerprints: DayFingerprints,
  zone: TimeZone,
): boolean {
  const now = fingerprintOf(run.of, run, fingerprints, zone)
  if (isWholeDay(run)) return now !== run.fingerprint
  return run.of === 'events' && eventsOf(now) < eventsOf(run.fingerprint)
}

/** Returns the number of events of a day. */
export const eventsOfDay = ({ days }: DayFingerprints, day: number): number =>
  Number(days.get(day)?.split(' ')[0] ?? 0)

/** Returns the number of events in an hour's fingerprint. */
const eventsOf = (fingerprint: string): number => Number(/(\d+) \d+$/.exec(fingerprint)?.[1] ?? 0)

/** Reads the runs of a project's days from `fromDay` to `toDay`, both inclusive, and of their hours. */
export async function readRuns(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectId: string,
  fromDay: number,
  toDay: number,
  zone: TimeZone,
): Promise<Run[]> {
  const rows = await readNoted<Omit<Run, keyof Span>>(clickhouse, projectId, {
    of: countedThings,
    fromDay,
    toDay,
  })
  return rows.map((row) => {
    const whole = wholeDayOf(row.day, zone)
    const span =
      row.hour === 0 ? whole : hourOf(row.day, row.hour, Math.floor(whole.first / hourMs))
    return { ...row, ...span }
  })
}

/** Reads the recorded runs of days, and of their hours. */
const readNoted = <Noted>(
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectId: string,
  { of, fromDay, toDay }: { of: readonly string[]; fromDay: number; toDay: number },
): Promise<Noted[]> =>
  clickhouse.rows<Noted>({
    sql: `SELECT of, toUInt32(date) AS day, hour, run_id, fingerprint, pixel_ids
          FROM analytics_runs FINAL
          WHERE project_id = {projectId:UUID} AND date BETWEEN toDate({from:String}) AND toDate({to:String})
            AND of IN {of:Array(String)} AND fingerprint != ''`,
    params: { projectId, of, from: dateOf(fromDay), to: dateOf(toDay) },
  })

/** Makes these runs the valid ones. */
export async function noteRuns(
  clickhouse: ClickHouse,
  projectId: string,
  runs: readonly Noted[],
  pixelIds: readonly string[] = [],
): Promise<void> {
  if (runs.length === 0) return
  await clickhouse.command({
    sql: `INSERT INTO analytics_runs (project_id, of, date, hour, run_id, fingerprint, pixel_ids)
          SELECT {projectId:UUID}, of, toDate(toUInt16(day)), hour, run_id, fingerprint, {pixelIds:Array(UUID)}
          FROM (SELECT {of:Array(String)} AS of, {days:Array(UInt32)} AS day, {hours:Array(UInt8)} AS hour,
            {runIds:Array(UUID)} AS run_id, {fingerprints:Array(String)} AS fingerprint)
          ARRAY JOIN of, day, hour, run_id, fingerprint`,
    params: {
      projectId,
      pixelIds,
      of: runs.map(({ of }) => of),
      days: runs.map(({ day }) => day),
      hours: runs.map(({ hour }) => hour),
      runIds: runs.map(({ run_id }) => run_id),
      fingerprints: runs.map(({ fingerprint }) => fingerprint),
    },
  })
}

interface Noted {
  readonly of: CountedThing | typeof checked
  readonly day: number
  readonly hour: number
  readonly run_id: string
  readonly fingerprint: string
}

/** Of a day (UTC), or an hour: its events when the project was last counted. This finds stale projects in any zone. */
const checked = 'checked'

/** Records the events of days (UTC) and hours with which a project was counted. */
export async function noteChecked(
  clickhouse: ClickHouse,
  projectId: string,
  fingerprints: DayFingerprints,
  nowMs: number,
  min: CountingMin,
): Promise<void> {
  const today = Math.floor(nowMs / dayMs)
  const found = await readNoted<Noted>(clickhouse, projectId, {
    of: [checked],
    fromDay: 0,
    toDay: today,
  })
  const noted = new Map(found.map((row) => [`${row.day} ${row.hour}`, row.fingerprint]))
  const days = new Set([...fingerprints.days.keys(), ...found.map(({ day }) => day)])
  const changed = [...days].flatMap((day) =>
    [wholeDayOf(day, utc), ...hoursOf(day, utc)].flatMap((span): Noted[] => {
      const isOver = isWholeDay(span)
        ? day < today
        : day >= today - daysOfHours && span.end <= hourUnderWay(nowMs) * hourMs
      const events = isWholeDay(span)
        ? fingerprints.days.get(day)
        : fingerprints.hours.get(span.first / hourMs)
      const isWorth = isWorthCounting(span, eventsOfDay(fingerprints, day), min)
      const fingerprint = events && isOver && isWorth ? `${version},${events}` : ''
      const { hour } = span
      if (fingerprint === (noted.get(`${day} ${hour}`) ?? '')) return []
      return [{ of: checked, day, hour, run_id: zeroUuid, fingerprint }]
    }),
  )
  await noteRuns(clickhouse, projectId, changed)
}

/** Value without a run, or for anonymous events. */
export const zeroUuid = '00000000-0000-0000-0000-000000000000'

/** The fewest events of a day that are worth counting. */
export interface CountingMin {
  readonly day: number
  /** For the hours of the day. */
  readonly hours: number
}

/**
 * Days with fewer events are read quickly from the events: a year of them has less than half a million. A window has few
 * days that are read by hours.
 */
export const eventsWorthCounting: CountingMin = { day: 1_000, hours: 5_000 }

/** Whether a day or an hour is counted if its day has this many events. */
export const isWorthCounting = (span: DaySpan, eventsOfDay: number, min: CountingMin): boolean =>
  eventsOfDay >= (isWholeDay(span) ? min.day : min.hours)

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
            SELECT project_id, part.1 AS date, part.2 AS hour, concat('${version},', ${fingerprintOfRows}) AS fingerprint
            FROM by_hour
            ARRAY JOIN arrayFilter(part ->
                if(part.2 = 0, day < {today:Int64}, hour_number >= {fromHour:Int64} AND hour_number < {untilHour:Int64}), [
              (toDate(toUInt16(day)), toUInt8(0)),
              (toDate(toUInt16(day)), toUInt8(hour_number % 24 + 1))
            ]) AS part
            WHERE events_of_day >= if(part.2 = 0, {eventsMin:UInt32}, {eventsMinByHour:UInt32})
            GROUP BY project_id, part
            UNION ALL
            SELECT project_id, date, hour, fingerprint FROM analytics_runs FINAL
            WHERE of = '${checked}' AND fingerprint != ''
          )
          GROUP BY project_id, date, hour, fingerprint HAVING count() = 1
          LIMIT 1 BY project_id`,
    params: {
      eventsMin: eventsWorthCounting.day,
      eventsMinByHour: eventsWorthCounting.hours,
      today,
      fromHour: (today - daysOfHours) * 24,
      untilHour,
    },
  })
  return rows.map(({ project_id }) => project_id)
}
