import type { Postgres } from '../../platform/postgres/pool.ts'
import type { TimeZone } from '../../platform/timeZone.ts'

/** Returns the projects whose days were last counted in another zone. */
export async function readMovedProjects(postgres: Postgres): Promise<string[]> {
  const { rows } = await postgres.query<{ project_id: string }>(
    `SELECT project_id FROM projects LEFT JOIN analytics_counted_zones AS counted USING (project_id)
     WHERE projects.time_zone <> coalesce(counted.time_zone, 'UTC')`,
  )
  return rows.map(({ project_id }) => project_id)
}

/** Stores the zone in which a project's days are counted. */
export async function noteCountedZone(
  postgres: Postgres,
  projectId: string,
  { name }: TimeZone,
): Promise<void> {
  await postgres.query(
    `INSERT INTO analytics_counted_zones (project_id, time_zone)
     SELECT project_id, $2 FROM projects WHERE project_id = $1
     ON CONFLICT (project_id) DO UPDATE SET time_zone = excluded.time_zone`,
    [projectId, name],
  )
}
