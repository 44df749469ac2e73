import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { fingerprintOfRows } from '../../query/fingerprints.ts'
import { promptly } from '../../query/promptly.ts'
import { dateOf } from '../../query/window.ts'

/** What of a day is counted: its events; its sessions, those that half an hour passed after on that day. */
export const countedThings = ['events', 'sessions'] as const
export type CountedThing = (typeof countedThings)[number]

/** A count of a day that may be read while its fingerprint is that of the events. */
export interface Run {
  readonly of: CountedThing
  /** Since 1970 (UTC). */
  readonly day: number
  readonly run_id: string
  readonly fingerprint: string
  readonly pixel_ids: readonly string[]
}

/** Raised when something else is counted, so that what was counted before is read no longer. */
const version = 1

/** How many days before its own a session of a day may depend on: it has begun the day before the last at the earliest. */
const daysBefore: Record<CountedThing, number> = { events: 0, sessions: 3 }
export const daysBeforeMax = daysBefore.sessions

/** What a run of a day has counted, from the fingerprints of days; empty where the day has no events. */
export function fingerprintOf(of: CountedThing, day: number, days: ReadonlyMap<number, string>): string {
  if (!days.has(day)) return ''
  const parts = Array.from({ length: daysBefore[of] + 1 }, (_, before) => days.get(day - before) ?? '')
  return [version, ...parts].join(',')
}

/** The runs of a project's days from `fromDay` to `toDay`, both inclusive. */
export const readRuns = (
  clickhouse: Pick<ClickHouse, 'rows'>,
  projectId: string,
  fromDay: number,
  toDay: number,
): Promise<Run[]> =>
  clickhouse.rows<Run>({
    sql: `SELECT of, toUInt32(date) AS day, run_id, fingerprint, pixel_ids FROM analytics_runs FINAL
          WHERE project_id = {projectId:UUID} AND date BETWEEN toDate({from:String}) AND toDate({to:String})
            AND fingerprint != ''
          SETTINGS ${promptly}`,
    params: { projectId, from: dateOf(fromDay), to: dateOf(toDay) },
  })

/** From now on this run is the one that counts. */
export async function noteRun(
  clickhouse: ClickHouse,
  projectId: string,
  { of, day, run_id, fingerprint, pixel_ids }: Run,
): Promise<void> {
  await clickhouse.command({
    sql: `INSERT INTO analytics_runs (project_id, of, date, run_id, fingerprint, pixel_ids)
          SELECT {projectId:UUID}, {of:String}, toDate({day:String}), {runId:UUID}, {fingerprint:String}, {pixelIds:Array(UUID)}`,
    params: { projectId, of, day: dateOf(day), runId: run_id, fingerprint, pixelIds: pixel_ids },
  })
}

/** Days with fewer events are soon read from the events. */
export const eventsWorthCounting = 5_000

/** The projects that have days which are over and whose events are not those that were counted last. */
export async function readStaleProjects(clickhouse: ClickHouse): Promise<string[]> {
  const date = "toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC'))"
  const rows = await clickhouse.rows<{ project_id: string }>({
    sql: `SELECT project_id FROM (
            SELECT project_id, day AS date, concat({version:String}, ',', ${fingerprintOfRows}) AS fingerprint
            FROM (
              SELECT project_id, ${date} AS day, count() AS events, groupBitXor(cityHash64(event_id)) AS ids
              FROM events GROUP BY project_id, ${date}
            )
            WHERE day < toDate(now('UTC'))
            GROUP BY project_id, day HAVING sum(events) >= {eventsMin:UInt32}
            UNION ALL
            SELECT project_id, date, fingerprint FROM analytics_runs FINAL WHERE of = 'events' AND fingerprint != ''
          )
          GROUP BY project_id, date, fingerprint HAVING count() = 1
          LIMIT 1 BY project_id`,
    params: { version: String(version), eventsMin: eventsWorthCounting },
  })
  return rows.map(({ project_id }) => project_id)
}
