import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audienceScopeOf } from '../api/access/policy.ts'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../api/http/pagination.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { freeNumber } from '../billing/allowance.ts'
import { ById, projectParameter, recordTags, Status, withoutAllowance } from './audienceSchemas.ts'
import { readAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { readShownNumbers } from './shownNumbers.ts'

const Build = Type.Object(
  {
    build_id: Id,
    status: Status,
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    count: Nullable(
      Type.Integer({
        description: `Members who may be shown now; of a build whose members were deleted, its members when it completed. Null until the build completes, and ${withoutAllowance}.`,
      }),
    ),
    is_served: Type.Boolean({ description: 'Whether records and files come from this build.' }),
    error: Nullable(Type.String({ description: 'Why it failed.' })),
    requested_at: Timestamp,
    completed_at: Nullable(Timestamp),
  },
  { title: 'AudienceBuild' },
)

interface BuildRow extends Static<typeof Build> {
  number: string
  members_kept: boolean
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
      async (request, reply) => {
        const { postgres, openQueryExecutor } = deps
        const { principal, params, query } = request
        const scope = await audienceScopeOf(postgres, request)
        const { id } = await readAudience(postgres, scope, params.audience_id)
        const { rows, next } = await readPage<BuildRow>(deps, query, {
          list: 'audience_builds',
          owner: id,
          sql: `SELECT build_id, audience_builds.number, status, progress,
                  ${freeNumber('count::float8', 'audience_builds')} AS count, members_kept,
                  build_id = current_build_id IS TRUE AS is_served, error, requested_at, completed_at
                FROM audience_builds JOIN audiences USING (audience_id) WHERE audience_id = $1`,
          values: [id],
          key: { number: 'bigint' },
          order: 'desc',
        })
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })
        const kept = rows.filter(({ count, members_kept }) => count !== null && members_kept)
        const shown = await readShownNumbers(
          { queryExecutor, postgres },
          principal.organizationId,
          kept.map(({ build_id }) => build_id),
        )
        return { builds: rows.map((row) => toBuild(row, shown.get(row.build_id)?.count)), ...next }
      },
    )
  }

const toBuild = (
  { number: _, members_kept: _kept, ...row }: BuildRow,
  shown: number | undefined,
): Static<typeof Build> => ({
  ...row,
  count: shown ?? row.count,
})
