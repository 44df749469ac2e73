import { freeNumber } from '../billing/allowance.ts'
import type { Meter } from '../billing/meters.ts'
import { wakeQueue } from '../platform/jobs/queue.ts'
import { emit } from '../platform/outbox/outbox.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import { uuidV7 } from '../platform/uuidV7.ts'

/** Returns the meter of records, which depends on whether intent determines the members. */
export const meterOf = (isPredictive: boolean): Extract<Meter, `audience${string}`> =>
  isPredictive ? 'audience_predictive' : 'audience'

export const buildsQueue = 'audiences.builds'

export interface Build {
  readonly buildId: string
  readonly audienceId: string
  readonly organizationId: string
  readonly projectId: string
  readonly definition: unknown
  readonly intentWindowDays: number
  /** Events before this time count, epoch milliseconds. */
  readonly asOfMs: number
  /** Whether this is the first try, so that no part of it is stored. */
  readonly isFirstTry: boolean
}

/**
 * Requests a build with the audience's current definition, and returns the build's id. A pending build is
 * reused. `audience_builds` contains the pending builds, in the order of `number`.
 */
export async function requestBuild(client: Queryable, audienceId: string): Promise<string> {
  const { rows } = await client.query<{ build_id: string }>(
    `WITH audience AS (SELECT * FROM audiences WHERE audience_id = $1),
     waiting AS (
       UPDATE audience_builds AS build
       SET definition = audience.definition, intent_window_days = audience.intent_window_days, updated_at = now()
       FROM audience WHERE build.audience_id = audience.audience_id AND build.status = 'pending'
       RETURNING build_id
     ), fresh AS (
       INSERT INTO audience_builds (build_id, audience_id, definition, intent_window_days)
       SELECT $2, audience_id, definition, intent_window_days FROM audience WHERE NOT EXISTS (SELECT FROM waiting)
       RETURNING build_id
     )
     SELECT build_id FROM waiting UNION ALL SELECT build_id FROM fresh`,
    [audienceId, uuidV7()],
  )
  await wakeQueue(client, buildsQueue)
  return rows[0]!.build_id
}

/** The progress of a build. The contract calls a build that runs `unloading`. */
interface BuildState {
  build_id: string
  status: 'pending' | 'unloading' | 'completed' | 'failed'
  progress: number
  count: number | null
  error: string | null
  updated_at: Date
}

const selectState = `SELECT build_id, status, progress::float8 AS progress, count::float8 AS count, error, updated_at
  FROM audience_builds`

export async function readNewestBuild(client: Queryable, audienceId: string): Promise<BuildState> {
  const sql = `${selectState} WHERE audience_id = $1 ORDER BY number DESC LIMIT 1`
  return (await client.query<BuildState>(sql, [audienceId])).rows[0]!
}

/** Reads a build; undefined if it was deleted with its audience. */
export async function readBuild(
  client: Queryable,
  buildId: string,
): Promise<BuildState | undefined> {
  return (await client.query<BuildState>(`${selectState} WHERE build_id = $1`, [buildId])).rows[0]
}

/**
 * Begins a build, or continues one whose process ended, and returns its inputs. Undefined for a completed,
 * failed or deleted build. It counts events up to the moment of its first start.
 */
export async function beginBuild(
  client: Queryable,
  buildId: string,
  nowMs: number,
): Promise<Build | undefined> {
  const { rows } = await client.query<{
    audience_id: string
    organization_id: string
    project_id: string
    definition: unknown
    intent_window_days: number
    as_of: Date
    is_first: boolean
  }>(
    `WITH before AS (SELECT status FROM audience_builds WHERE build_id = $1 FOR UPDATE)
     UPDATE audience_builds AS build
     SET status = 'unloading', as_of = coalesce(as_of, $2), updated_at = now()
     FROM before, audiences JOIN projects USING (project_id)
     WHERE build_id = $1 AND before.status IN ('pending', 'unloading') AND audiences.audience_id = build.audience_id
     RETURNING build.audience_id, organization_id, project_id, build.definition, build.intent_window_days, as_of,
       before.status = 'pending' AS is_first`,
    [buildId, new Date(nowMs)],
  )
  const row = rows[0]
  return (
    row && {
      buildId,
      audienceId: row.audience_id,
      organizationId: row.organization_id,
      projectId: row.project_id,
      definition: row.definition,
      intentWindowDays: row.intent_window_days,
      asOfMs: row.as_of.getTime(),
      isFirstTry: row.is_first,
    }
  )
}

/** Records the progress of a build, from 0 to 1. */
export async function noteProgress(
  client: Queryable,
  buildId: string,
  progress: number,
): Promise<void> {
  await client.query(
    `UPDATE audience_builds SET progress = $2, updated_at = now()
     WHERE build_id = $1 AND status = 'unloading'`,
    [buildId, progress],
  )
}

/** Marks a build as failed; people can read `reason`. */
export async function failBuild(client: Queryable, buildId: string, reason: string): Promise<void> {
  await client.query(
    `UPDATE audience_builds SET status = 'failed', error = $2, updated_at = now()
     WHERE build_id = $1 AND status IN ('pending', 'unloading')`,
    [buildId, reason],
  )
}

interface Completed {
  readonly count: number
  readonly isPredictive: boolean
  readonly inputs: object | null
}

/**
 * Completes a build whose members are all stored, and serves it unless a later build is already served. Call
 * it in a transaction.
 */
export async function completeBuild(
  client: Queryable,
  buildId: string,
  { count, isPredictive, inputs }: Completed,
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE audience_builds
     SET status = 'completed', progress = 1, count = $2, is_predictive = $3, inputs = $4,
       completed_at = now(), updated_at = now()
     WHERE build_id = $1 AND status = 'unloading'`,
    [buildId, count, isPredictive, inputs],
  )
  if (rowCount === 0) return
  const { rows } = await client.query<{
    organization_id: string
    project_id: string
    audience_id: string
    name: string
    list_id: string | null
    count: number | null
  }>(
    `UPDATE audiences SET current_build_id = build.build_id
     FROM audience_builds AS build, projects
     WHERE build.build_id = $1 AND audiences.audience_id = build.audience_id
       AND projects.project_id = audiences.project_id
       AND build.number > coalesce(
         (SELECT number FROM audience_builds WHERE build_id = audiences.current_build_id), 0)
     RETURNING organization_id, audiences.project_id, audiences.audience_id, audiences.name, audiences.list_id,
       ${freeNumber('build.count::float8', 'build')} AS count`,
    [buildId],
  )
  for (const {
    organization_id: organizationId,
    project_id: projectId,
    list_id,
    ...audience
  } of rows) {
    // The audience of a list is internal, so its builds send no webhook.
    if (list_id !== null) continue
    await emit(client, {
      organizationId,
      projectId,
      type: 'audience.built',
      data: { ...audience, project_id: projectId, build_id: buildId },
    })
  }
}

/** How long the members of an exported build are kept, from now on. */
const sendingDays = 7

/** Keeps the members of a build for an export. Returns false if they were deleted. */
export async function keepBuild(client: Queryable, buildId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE audience_builds SET members_kept_until = now() + make_interval(days => $2)
     WHERE build_id = $1 AND members_kept`,
    [buildId, sendingDays],
  )
  return rowCount !== 0
}
