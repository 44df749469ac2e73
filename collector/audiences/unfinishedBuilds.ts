import type { Queryable } from '../platform/postgres/transaction.ts'

/** How many builds of an organization are jobs at a time, so that they do not delay other organizations. */
const jobsOfOrganization = 3

/** Pending and running builds, the first ones of each organization in the order of their requests. */
export async function readUnfinishedBuilds(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ build_id: string }>(
    `SELECT build_id FROM (
       SELECT build_id, number, row_number() OVER (PARTITION BY organization_id ORDER BY number) AS place
       FROM audience_builds JOIN audiences USING (audience_id) JOIN projects USING (project_id)
       WHERE audience_builds.status IN ('pending', 'unloading')
     ) AS waiting WHERE place <= $1 ORDER BY number LIMIT 1000`,
    [jobsOfOrganization],
  )
  return rows.map(({ build_id }) => build_id)
}

/** Number of builds of an audience that keep their members, for entries and exits. */
const buildsKept = 3
/** How long pages and files may still read a build after another one replaced it. */
const readHours = 24

/**
 * Returns builds whose members may be deleted: failed ones, and those that ended a day ago and have enough
 * newer builds. A build that was charged today or yesterday stays, because newer builds look up charged
 * people in it.
 */
export async function readDroppableBuilds(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ build_id: string }>(
    `SELECT build_id FROM (
       SELECT build_id, audience_id, status, updated_at, row_number() OVER (
         PARTITION BY audience_id, status = 'completed' ORDER BY number DESC) AS place
       FROM audience_builds
       WHERE members_kept AND coalesce(members_kept_until, '-infinity') < now() AND status IN ('completed', 'failed')
     ) AS ended JOIN audiences USING (audience_id)
     WHERE build_id IS DISTINCT FROM current_build_id AND (status = 'failed' OR place > $1)
       AND ended.updated_at < now() - make_interval(hours => $2)
       AND NOT EXISTS (SELECT FROM build_charges AS charged WHERE charged.build_id = ended.build_id
         AND day >= (now() AT TIME ZONE 'UTC')::date - 1 AND day < 'infinity')
     LIMIT 1000`,
    [buildsKept, readHours],
  )
  return rows.map(({ build_id }) => build_id)
}

/** Which of these builds must keep their members; unknown builds need not. */
export async function keepsMembers(
  client: Queryable,
  buildIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ build_id: string }>(
    'SELECT build_id FROM audience_builds WHERE build_id = ANY($1) AND members_kept',
    [buildIds],
  )
  return new Set(rows.map(({ build_id }) => build_id))
}
