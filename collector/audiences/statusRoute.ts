import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audienceScopeOf } from '../api/access/policy.ts'
import { access } from '../api/access/recordAccess.ts'
import { Id, Timestamp } from '../api/http/commonSchemas.ts'
import { ById, ProjectQuery, Status, tags } from './audienceSchemas.ts'
import { readAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { readNewestBuild } from './builds.ts'

const TaskStatus = Type.Object(
  {
    id: Id,
    status: Status,
    updated_at: Timestamp,
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The share of the build that is done.',
    }),
    error: Type.Optional(Type.String({ description: 'Why it failed.' })),
  },
  { title: 'AudienceStatus' },
)

/** GET /api/v1/audiences/{audience_id}/status: the progress of the newest build. Never charged. */
export const statusRoute =
  ({ postgres }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/audiences/:audience_id/status',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getAudienceStatus',
          summary: 'Get the build status of an audience',
          params: ById,
          querystring: ProjectQuery,
          description: 'Returns the status of the newest build. Not billed. You can poll it.',
          response: { 200: TaskStatus },
        },
      },
      async (request) => {
        const { id } = await readAudience(
          postgres,
          await audienceScopeOf(postgres, request),
          request.params.audience_id,
        )
        const { status, progress, error, updated_at } = await readNewestBuild(postgres, id)
        return {
          id,
          status,
          updated_at: updated_at.toISOString(),
          progress,
          ...(error !== null && { error }),
        }
      },
    )
  }
