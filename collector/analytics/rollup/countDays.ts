import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { bindings } from '../../query/bind.ts'
import { readFingerprints } from '../../query/fingerprints.ts'
import { conditions } from '../../query/where.ts'
import { dayMs } from '../../query/window.ts'
import type { AnalyticsPlan } from '../plan.ts'
import { count, planOf } from './countDay.ts'
import { countedThings, eventsWorthCounting, fingerprintOf, noteRun, readRuns } from './runs.ts'
import { forgetVisitors } from './visitorNumbers.ts'

/**
 * Counts the days of a project that are over and whose events are not those that were counted last, newest first. May
 * be done again at any time, but not twice at once. `signal` ends it between two days.
 */
export async function countDays(
  clickhouse: ClickHouse,
  projectId: string,
  { eventsMin = eventsWorthCounting, signal }: { eventsMin?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const today = Math.floor(Date.now() / dayMs)
  const [fingerprints, runs] = await Promise.all([
    readFingerprints(clickhouse, [projectId], 0, today - 1),
    readRuns(clickhouse, projectId, 0, today),
  ])
  const project = { projectId, organizationId: await readOrganization(clickhouse, projectId) }
  const known = new Map(runs.map((run) => [`${run.of} ${run.day}`, run]))
  const isWorthIt = (day: number) => Number(fingerprints.get(day)?.split(' ')[0] ?? 0) >= eventsMin
  const days = [...new Set([...fingerprints.keys(), ...runs.map(({ day }) => day)])].sort((a, b) => b - a)
  if (runs.some(({ of, day, fingerprint }) => fingerprint !== fingerprintOf(of, day, fingerprints)))
    await forgetVisitors(clickhouse, projectId)
  for (const day of days)
    for (const of of countedThings) {
      if (signal?.aborted) return
      const before = known.get(`${of} ${day}`)?.fingerprint ?? ''
      const fingerprint = isWorthIt(day) ? fingerprintOf(of, day, fingerprints) : ''
      if (fingerprint === before) continue
      const run_id = uuidV7()
      if (fingerprint !== '') await count[of](clickhouse, project, day, run_id)
      const fromDay = of === 'events' ? day : day - 2
      const pixel_ids =
        fingerprint === '' ? [] : await readPixels(clickhouse, planOf(project, fromDay, day + 1))
      await noteRun(clickhouse, projectId, { of, day, run_id, fingerprint, pixel_ids })
    }
}

/** Whose events a project has; of one without events the zero uuid. */
async function readOrganization(clickhouse: ClickHouse, projectId: string): Promise<string> {
  const [found] = await clickhouse.rows<{ organization_id: string }>({
    sql: 'SELECT organization_id FROM events WHERE project_id = {projectId:UUID} LIMIT 1',
    params: { projectId },
  })
  return found?.organization_id ?? zeroUuid
}
const zeroUuid = '00000000-0000-0000-0000-000000000000'

async function readPixels(clickhouse: ClickHouse, plan: AnalyticsPlan): Promise<string[]> {
  const { bind, params } = bindings()
  const rows = await clickhouse.rows<{ pixel_id: string }>({
    sql: `SELECT DISTINCT pixel_id FROM events WHERE ${conditions(plan, bind).join(' AND ')}`,
    params,
  })
  return rows.map(({ pixel_id }) => pixel_id)
}

/** Deletes the counts that another run has taken the place of. */
export async function deleteOldCounts(clickhouse: ClickHouse): Promise<void> {
  for (const [table, of] of [
    ['analytics_days', 'events'],
    ['analytics_session_days', 'sessions'],
  ] as const)
    await deleteRows(clickhouse, table, {
      sql: `counted_at < now() - INTERVAL 1 HOUR AND (project_id, run_id) NOT IN
        (SELECT project_id, run_id FROM analytics_runs FINAL WHERE of = {of:String} AND fingerprint != '')`,
      params: { of },
    })
}
