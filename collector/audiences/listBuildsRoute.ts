import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audienceScopeOf } from '../api/access/policy.ts'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../api/http/pagination.ts'
import { ById, projectParameter, recordTags, Status, withoutAllowance } from './audienceSchemas.ts'
import { readAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { freeNumber } from './builds.ts'

const Build = Type.Object(
  {
    build_id: Id,
    status: Status,
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    count: Nullable(
      Type.Integer({
        description: `Members. Null until the build completes, and ${withoutAllowance}.`,
      }),
    ),
    is_served: Type.Boolean({ description: 'Whether records and files come from this build.' }),
    error: Nullable(Type.String({ description: 'Why it failed.' })),
    requested_at: Timestamp,
    completed_at: Nullable(Timestamp),
  },
  { title: 'AudienceBuild' },
)

interface BuildRow extends Omit<Static<typeof Build>, 'requested_at' | 'completed_at'> {
  requested_at: Date
  completed_at: Date | null
}

/** GET /api/v1/audiences/{audience_id}/builds: each build with its count. Never charged. */
export const listBuildsRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/audiences/:audience_id/builds',
      {
        config: { access },
        schema: {
          tags: recordTags,
          operationId: 'listAudienceBuilds',
          summary: 'List the builds of an audience',
          description: 'Returns the builds, newest first.',
          params: ById,
          querystring: strictObject({ ...projectParameter, ...pageQuery }),
          response: { 200: Type.Object({ builds: Type.Array(Build), next_cursor: NextCursor }) },
        },
      },
      async (request) => {
        const scope = await audienceScopeOf(deps.postgres, request)
        const { id } = await readAudience(deps.postgres, scope, request.params.audience_id)
        const { rows, next } = await readPage<BuildRow & { number: string }>(deps, request.query, {
          list: 'audience_builds',
          owner: id,
          sql: `SELECT build_id, audience_builds.number, status, progress,
                  ${freeNumber('audience_builds', 'count::float8')} AS count,
                  build_id = current_build_id IS TRUE AS is_served, error, requested_at, completed_at
                FROM audience_builds JOIN audiences USING (audience_id) WHERE audience_id = $1`,
          values: [id],
          key: { number: 'bigint' },
          order: 'desc',
        })
        return { builds: rows.map(toBuild), ...next }
      },
    )
  }

const toBuild = ({
  requested_at,
  completed_at,
  number: _,
  ...row
}: BuildRow & { number: string }): Static<typeof Build> => ({
  ...row,
  requested_at: requested_at.toISOString(),
  completed_at: completed_at?.toISOString() ?? null,
})
