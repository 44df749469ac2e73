import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { dayMs } from '../../platform/days.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { reloadIdentity } from '../store/refresh.ts'
import { carryOutErasures, type ErasureDeps } from './erasures.ts'
import { removeLinks } from './linkRemovals.ts'
import { privacyRequests, syncToClickHouse } from './optOuts.ts'

/** Interval between runs that delete rows. Erasures that only wait for rows in transit run by the schedule. */
const eraseAgainSeconds = 3

/** The background jobs of privacy: opt-outs, erasures and the retention of pixels' events. */
export const privacyQueues = (deps: ErasureDeps): Queue[] => [
  {
    name: privacyRequests,
    schedule: '* * * * *',
    async run() {
      // Opt-outs run first, because they find a person's browsers by links, which an erasure deletes.
      while (await syncToClickHouse(deps.postgres, deps.clickhouse));
      const left = [await carryOutErasures(deps), await removeLinks(deps)]
      return left.includes(true) ? { againInSeconds: eraseAgainSeconds } : undefined
    },
  },
  {
    name: 'privacy.retention',
    schedule: '0 * * * *',
    timeoutSeconds: 3_600,
    run: () => deleteExpired(deps.postgres, deps.clickhouse),
  },
]

/** Pixels with the same retention period. */
interface Group {
  days: number
  projects: string[]
  pixels: string[]
}

/**
 * Deletes data older than the setting `retention_days` of its pixel: events, rejected and duplicate ones,
 * links. The limit moves at midnight, UTC, so that each table is scanned at most once a day.
 */
export async function deleteExpired(
  postgres: Postgres,
  clickhouse: ClickHouse,
  nowMs = Date.now(),
): Promise<void> {
  const { rows: groups } = await postgres.query<Group>(
    `SELECT (settings->>'retention_days')::int AS days, array_agg(project_id::text) AS projects,
       array_agg(pixel_id::text) AS pixels
     FROM pixels WHERE settings->>'retention_days' IS NOT NULL GROUP BY days ORDER BY days`,
  )
  if (groups.length === 0) return
  const bound = groups.flatMap(inBounds)
  const todayMs = Math.floor(nowMs / dayMs) * dayMs
  // The project is first in these tables' primary keys, so the query names it together with the pixel. Links
  // have no project.
  const inProjects = (column: string) => expired(bound, column, todayMs, true)
  await deleteRows(clickhouse, 'events', inProjects('fromUnixTimestamp64Milli(ts_millis)'))
  // The other hits of a session that loses its first ones go as well. The next comparison builds them again as a session.
  await deleteRows(
    clickhouse,
    'hits',
    inProjects('fromUnixTimestamp64Milli(ts_millis - session_ms)'),
  )
  await deleteRows(clickhouse, 'rejected_events', inProjects('received_at'))
  await deleteRows(clickhouse, 'duplicate_events', inProjects('received_at'))
  const links = expired(bound, 'observed_at', todayMs, false)
  if (await deleteRows(clickhouse, 'identity_links', links, 'SETTINGS mutations_sync = 2')) {
    await reloadIdentity(clickhouse)
  }
}

/** Divides a group so that its pixels can be bound. */
function inBounds({ days, projects, pixels }: Group): Group[] {
  const [someProjects, somePixels] = [chunked(projects), chunked(pixels)]
  return somePixels.map((some, at) => ({ days, projects: someProjects[at]!, pixels: some }))
}

function expired(
  groups: readonly Group[],
  column: string,
  todayMs: number,
  namesProject: boolean,
): Query {
  return {
    sql: groups
      .map(
        (_, n) =>
          `(${namesProject ? `project_id IN {projects${n}:Array(UUID)} AND ` : ''}pixel_id IN {pixels${n}:Array(UUID)} AND ${column} < fromUnixTimestamp64Milli({before${n}:Int64}))`,
      )
      .join(' OR '),
    params: Object.fromEntries(
      groups.flatMap(({ days, projects, pixels }, n) => [
        [`projects${n}`, projects],
        [`pixels${n}`, pixels],
        [`before${n}`, todayMs - days * dayMs],
      ]),
    ),
  }
}
