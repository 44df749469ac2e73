import { bindings } from '../../events/query/bind.ts'
import { readDayFingerprints } from '../../events/query/dayFingerprints.ts'
import { selectionConditions } from '../../events/query/filter/filterSql.ts'
import { dayOf, startOfDay } from '../../events/query/window/localDays.ts'
import { hourMs } from '../../events/query/window/window.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { type TimeZone, utc } from '../../platform/timeZone.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import {
  type CountedThing,
  type CountingMin,
  countedThings,
  type DaySpan,
  daysOfHours,
  eventsOfDay,
  eventsWorthCounting,
  fingerprintOf,
  hasHours,
  hoursOf,
  hourUnderWay,
  isWholeDay,
  isWorthCounting,
  mayHaveLostVisitors,
  noteChecked,
  noteRuns,
  readRuns,
  wholeDayOf,
  zeroUuid,
} from '../rollup/runs.ts'
import { forgetVisitors, requireNumbering } from '../rollup/visitorNumbers.ts'
import { daysOfSession } from '../sessionRows.ts'
import { count } from './countDay.ts'
import { planOf } from './spansOfRuns.ts'

interface CountDaysOptions {
  readonly min?: CountingMin
  readonly signal?: AbortSignal
  readonly nowMs?: number
  /** The zone of the counted days. */
  readonly zone?: TimeZone
}

/**
 * Counts the completed days of a project, and the completed hours of its last days, newest first. It counts
 * those whose events have changed since the last count. It may be repeated at any time, but must not run
 * twice at once. `signal` ends it between two days.
 *
 * 1. It reads the fingerprints of events, and the runs, which are counts with the fingerprint of their time.
 * 2. For each day and counted thing, as a day and by hours, it finds stale runs. countDay.ts writes rows
 * under new run ids.
 * 3. noteRuns makes readers use these, then requireNumbering checks them.
 */
export async function countDays(
  clickhouse: ClickHouse,
  projectId: string,
  { min = eventsWorthCounting, signal, nowMs = Date.now(), zone = utc }: CountDaysOptions = {},
): Promise<void> {
  const [today, todayInUtc] = [dayOf(nowMs, zone), dayOf(nowMs, utc)]
  const readDays = (last: number, of: TimeZone) =>
    readDayFingerprints(clickhouse, [projectId], 0, last, last - daysOfHours - 1, of)
  // First those by which it is stale: later events make it stale again.
  const checked = await readDays(todayInUtc, utc)
  const [fingerprints, runs] = await Promise.all([
    readDays(today, zone),
    readRuns(clickhouse, projectId, 0, today, zone),
  ])
  const project = { projectId, zone, organizationId: await readOrganization(clickhouse, projectId) }
  const isOver = (of: CountedThing, span: DaySpan) =>
    isWholeDay(span)
      ? span.day < today
      : hasHours(of, span.day, today) && span.end <= hourUnderWay(nowMs) * hourMs
  const days = [...new Set([...fingerprints.days.keys(), ...runs.map(({ day }) => day)])].sort(
    (a, b) => b - a,
  )
  if (runs.some((run) => mayHaveLostVisitors(run, fingerprints, zone)))
    await forgetVisitors(clickhouse, projectId)
  // Two counts of the same events: the complete day, and its hours.
  for (const day of days)
    for (const of of countedThings)
      for (const spans of [[wholeDayOf(day, zone)], hoursOf(day, zone)]) {
        if (signal?.aborted) return
        const countedAs = new Map(
          runs
            .filter((run) => run.of === of && run.day === day)
            .map((run) => [run.hour, run.fingerprint]),
        )
        const stale = spans.flatMap((span) => {
          // Empty: do not count. Counts that must be discarded are replaced by a run with an empty
          // fingerprint.
          const fingerprint =
            isWorthCounting(span, eventsOfDay(fingerprints, day), min) && isOver(of, span)
              ? fingerprintOf(of, span, fingerprints, zone)
              : ''
          const isSame = fingerprint === (countedAs.get(span.hour) ?? '')
          return isSame ? [] : [{ ...span, of, fingerprint, run_id: uuidV7() }]
        })
        const counted = stale.filter(({ fingerprint }) => fingerprint !== '')
        const numbering = counted.length > 0 && (await count[of](clickhouse, project, day, counted))
        const fromDay = of === 'events' ? day : day - daysOfSession
        const window = { startMs: startOfDay(fromDay, zone), endMs: startOfDay(day + 1, zone) }
        const pixel_ids =
          counted.length > 0 ? await readPixels(clickhouse, planOf(project, window)) : []
        await noteRuns(clickhouse, projectId, stale, pixel_ids)
        if (numbering) await requireNumbering(clickhouse, projectId, numbering)
      }
  await noteChecked(clickhouse, projectId, checked, nowMs, min)
}

/** Returns the organization of a project's events; the zero UUID for a project without events. */
async function readOrganization(clickhouse: ClickHouse, projectId: string): Promise<string> {
  const [found] = await clickhouse.rows<{ organization_id: string }>({
    sql: 'SELECT organization_id FROM events WHERE project_id = {projectId:UUID} LIMIT 1',
    params: { projectId },
  })
  return found?.organization_id ?? zeroUuid
}

async function readPixels(clickhouse: ClickHouse, plan: AnalyticsPlan): Promise<string[]> {
  const { bind, params } = bindings()
  const rows = await clickhouse.rows<{ pixel_id: string }>({
    sql: `SELECT DISTINCT pixel_id FROM events WHERE ${selectionConditions(plan, bind).join(' AND ')}`,
    params,
  })
  return rows.map(({ pixel_id }) => pixel_id)
}

/** Deletes counts that a later run has replaced. */
export async function deleteOldCounts(clickhouse: ClickHouse): Promise<void> {
  for (const [table, of] of [
    ['analytics_days', ['events']],
    ['analytics_session_days', ['sessions', 'sessions_with_bots']],
    ['counted_sessions', ['session_rows']],
  ] as const satisfies [string, CountedThing[]][])
    await deleteRows(clickhouse, table, {
      sql: `counted_at < now() - INTERVAL 1 HOUR AND (project_id, run_id) NOT IN
        (SELECT project_id, run_id FROM analytics_runs FINAL WHERE of IN {of:Array(String)} AND fingerprint != '')`,
      params: { of },
    })
}
