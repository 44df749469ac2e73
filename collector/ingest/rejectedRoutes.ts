import type { FastifyPluginAsync } from 'fastify'
import { isUuid } from '../../schemas/uuid.ts'
import type { ReadDeps } from '../deps.ts'
import { invalidParameter } from '../errors.ts'

interface Query {
  project_id?: string
  pixel_id?: string
  limit?: string
}

const limitMost = 1_000

/** GET /api/v1/rejected_events: what the collector turned away and why, newest first. Never billed. */
export const rejectedRoutes =
  (deps: ReadDeps): FastifyPluginAsync =>
  async (app) => {
    app.get<{ Querystring: Query }>(
      '/api/v1/rejected_events',
      {
        schema: { tags: ['Ingest'], summary: 'Events turned away in the last thirty days' },
        config: { access: { to: 'key', projectKeys: 'own project', limit: 'data' } },
      },
      async (request) => {
        const { principal } = request
        const { project_id, pixel_id, limit = '100' } = request.query
        for (const [name, id] of Object.entries({ project_id, pixel_id })) {
          if (id !== undefined && !isUuid(id)) throw invalidParameter(name, 'must be a uuid')
        }
        if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > limitMost) {
          throw invalidParameter('limit', `must be a whole number from 1 to ${limitMost}`)
        }
        const scope = await deps.scopeOf(principal, { projectId: project_id, pixelId: pixel_id })
        const rejected_events = await deps.clickhouse[principal.mode].rows({
          sql: `
            SELECT received_at, project_id, pixel_id, event_id, event_type, path, message, event
            FROM rejected_events
            WHERE organization_id = {organization:UUID}
              AND ({project:Nullable(UUID)} IS NULL OR project_id = {project:Nullable(UUID)})
              AND ({pixel:Nullable(UUID)} IS NULL OR pixel_id = {pixel:Nullable(UUID)})
            ORDER BY received_at DESC
            LIMIT {limit:UInt32}`,
          params: {
            organization: scope.organizationId,
            project: scope.projectId,
            pixel: scope.pixelId,
            limit: Number(limit),
          },
        })
        return { rejected_events }
      },
    )
  }
