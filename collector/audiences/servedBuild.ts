import { ApiError } from '../api/http/errors.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import type { Audience } from './audiences.ts'

/** A build whose members can be read. */
export interface ReadableBuild {
  readonly buildId: string
  /** Number of members: their keys are 1 to this. */
  readonly count: number
  /** Whether intent determined the members, which selects the meter. */
  readonly isPredictive: boolean
}

/** 409 (spec: Errors and limits): no build has readable members. */
const notReady = (message: string) => new ApiError(409, 'not_ready', message)

/** Reads the served build of an audience. Throws 409 "not_ready". */
export async function readServedBuild(
  client: Queryable,
  { id, build_id }: Audience,
): Promise<ReadableBuild> {
  if (build_id === null) {
    throw notReady(
      `This audience is not built yet. GET /api/v1/audiences/${id}/status shows the progress.`,
    )
  }
  return readBuild(client, id, build_id)
}

/** Reads a completed build of an audience. Throws 409 "not_ready" if its members were deleted. */
export async function readBuild(
  client: Queryable,
  audienceId: string,
  buildId: string,
): Promise<ReadableBuild> {
  const { rows } = await client.query<{ count: number; isPredictive: boolean }>(
    `SELECT count::float8 AS count, is_predictive AS "isPredictive" FROM audience_builds
     WHERE build_id = $1 AND audience_id = $2 AND status = 'completed' AND members_kept`,
    [buildId, audienceId],
  )
  if (!rows[0]) {
    throw notReady(
      `The members of this build were deleted. GET /api/v1/audiences/${audienceId}/download starts a new build.`,
    )
  }
  return { buildId, ...rows[0] }
}
