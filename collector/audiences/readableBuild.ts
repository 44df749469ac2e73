import { ApiError } from '../api/http/errors.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import type { StoredAudience } from './audiences.ts'

export interface ReadableBuild {
  readonly buildId: string
  /** Number of members: their keys are 1 to this. */
  readonly count: number
  /** Whether intent determined the members, which selects the meter. */
  readonly isPredictive: boolean
}

/** 409 (spec: Errors and limits): the members of a build cannot be read. */
const notReady = (message: string) => new ApiError(409, 'not_ready', message)

/** Reads the served build of an audience. Throws 409 "not_ready". */
export async function readServedBuild(
  client: Queryable,
  { id, build_id }: StoredAudience,
): Promise<ReadableBuild> {
  if (build_id === null) {
    throw notReady(
      `This audience is not built yet. GET /api/v1/audiences/${id}/status shows the progress.`,
    )
  }
  return readReadableBuild(client, id, build_id)
}

/** Reads a build of an audience. Throws 409 "not_ready" if it is not completed, or if its members were deleted. */
export async function readReadableBuild(
  client: Queryable,
  audienceId: string,
  buildId: string,
): Promise<ReadableBuild> {
  const { rows } = await client.query<{
    status: string
    members_kept: boolean
    count: number
    is_predictive: boolean
  }>(
    `SELECT status, members_kept, count::float8 AS count, is_predictive FROM audience_builds
     WHERE build_id = $1 AND audience_id = $2`,
    [buildId, audienceId],
  )
  const [build] = rows
  const builds = `GET /api/v1/audiences/${audienceId}/builds`
  if (build?.status !== 'completed')
    throw notReady(
      `The build ${buildId} is not completed. ${builds} shows the status of each build.`,
    )
  // The served build always keeps its members, so this concerns only older builds.
  if (!build.members_kept)
    throw notReady(
      `The members of build ${buildId} were deleted. Choose a newer build: ${builds} lists them.`,
    )
  return { buildId, count: build.count, isPredictive: build.is_predictive }
}
