import type { Postgres } from '../platform/postgres/pool.ts'
import { type TimeZone, timeZoneOrUtc, utc } from '../platform/timeZone.ts'

/** The time zone of a project; UTC for several projects and for a deleted one. */
export async function readProjectZone(
  postgres: Postgres,
  projectId: string | null,
): Promise<TimeZone> {
  if (projectId === null) return utc
  const { rows } = await postgres.query<{ time_zone: string }>(
    'SELECT time_zone FROM projects WHERE project_id = $1',
    [projectId],
  )
  return rows[0] ? timeZoneOrUtc(rows[0].time_zone) : utc
}
