import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { ignoreSettings } from '../../../schemas/ignored.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { ReadDeps } from '../query/readDeps.ts'

const Text = Type.Union([Type.String(), Type.Null()])
const RejectedEvent = Type.Object(
  {
    received_at: Type.String(),
    project_id: Type.String({ format: 'uuid' }),
    pixel_id: Type.String({ format: 'uuid' }),
    cookie_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'The browser, which a corrected event needs when it is sent again.',
    }),
    event_id: Text,
    event_type: Text,
    refusal: Type.Union([Type.String(), Type.Null()], {
      description:
        'For a complete beacon that was refused: the error of the answer, such as `origin not allowed`. The service stores a few a minute of each, without their content.',
    }),
    path: Type.String({ description: 'JSON pointer to the invalid value in the event.' }),
    message: Type.String(),
    event: Type.String({ description: 'The event as JSON, truncated to 4,096 characters.' }),
  },
  { title: 'RejectedEvent' },
)

const Query = Type.Object(
  {
    project_id: Type.Optional(Type.String({ format: 'uuid' })),
    pixel_id: Type.Optional(Type.String({ format: 'uuid' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  },
  { additionalProperties: false },
)

/** GET /api/v1/rejected_events: rejected events with reasons, newest first. Never billed. */
export const rejectedRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/rejected_events',
      {
        schema: {
          tags: ['Ingest'],
          operationId: 'listRejectedEvents',
          description:
            'Returns the events that the collector rejected, with the reasons. Sorted by time, newest first. Never billed.',
          summary: 'List the rejected events of the last thirty days',
          querystring: Query,
          response: { 200: Type.Object({ rejected_events: Type.Array(RejectedEvent) }) },
        },
        config: {
          access: {
            to: 'key',
            projectKeys: 'own project',
            keyRole: 'read',
            limit: 'data',
            members: true,
          },
        },
      },
      async ({ principal, query: { project_id, pixel_id, limit = 100 } }, reply) => {
        const scope = await deps.scopeOf(principal, {
          projectId: project_id?.toLowerCase(),
          pixelId: pixel_id?.toLowerCase(),
        })
        const queryExecutor = deps.openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })
        const rejected_events = await queryExecutor.rows<Static<typeof RejectedEvent>>({
          sql: `
            SELECT received_at, project_id, pixel_id,
              nullIf(cookie_id, toUUID('00000000-0000-0000-0000-000000000000')) AS cookie_id, event_id, event_type, nullIf(refusal, '') AS refusal, path, message, event
            FROM rejected_events
            WHERE organization_id = {organization:UUID}
              AND ({project:Nullable(UUID)} IS NULL OR project_id = {project:Nullable(UUID)})
              AND ({pixel:Nullable(UUID)} IS NULL OR pixel_id = {pixel:Nullable(UUID)})
              AND rejected_events.refusal NOT IN {ignoreSettings:Array(String)}
            ORDER BY received_at DESC
            LIMIT {limit:UInt32}`,
          params: {
            organization: scope.organizationId,
            project: scope.projectId,
            pixel: scope.pixelId,
            limit,
            ignoreSettings,
          },
        })
        return { rejected_events }
      },
    )
  }
