import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { objectProject } from '../../api/access/projectObjects.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { acceptBeacon, type BeaconDeps } from './acceptBeacon.ts'

const eventsMax = 100

/**
 * POST /api/v1/rejected_events/resend: accepts corrected events of a browser like `POST /e` of a back end. The shipper
 * keeps an event_id once, so a repeated request stores nothing twice.
 */
export const resendRoute =
  (deps: BeaconDeps, postgres: Postgres): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/api/v1/rejected_events/resend',
      {
        config: {
          access: {
            to: 'key',
            projectKeys: 'refused',
            keyRole: 'admin',
            limit: 'data',
            members: true,
          },
        },
        schema: {
          tags: ['Ingest'],
          operationId: 'resendRejectedEvents',
          summary: 'Resend corrected events',
          description:
            'Requires the owner or admin role in the organization. Accepts corrected events that the collector had rejected, with their own `event_id` and time. `cookie_id` is that of the rejected event. An `event_id` that is already stored is not stored again. Opt-outs, ignored traffic and the tracking plan apply. Not billed.',
          body: strictObject({
            project_id: Id,
            pixel_id: Id,
            cookie_id: Type.Optional(Id),
            client_ip: Type.Optional(Type.String({ maxLength: 45 })),
            user_agent: Type.Optional(Type.String({ maxLength: 1_000 })),
            events: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
              minItems: 1,
              maxItems: eventsMax,
              description:
                'Events as `POST /e` takes them: `event_id`, `event_type`, `event_data`.',
            }),
          }),
          response: {
            200: Type.Object({
              accepted: Type.Integer(),
              rejected: Type.Array(
                Type.Object(
                  {
                    index: Type.Integer(),
                    event_id: Type.Union([Type.String(), Type.Null()]),
                    path: Type.String(),
                    message: Type.String(),
                  },
                  { title: 'ResentFault' },
                ),
                { description: 'The events that are still invalid.' },
              ),
            }),
          },
        },
      },
      async ({ principal, body, headers, ip, protocol, log }) => {
        requireOrganizationAdmin(principal)
        const { project_id, pixel_id, cookie_id, client_ip, user_agent, events } = body
        const projectId = await objectProject(postgres, principal, project_id, 'write')
        const pixelId = pixel_id.toLowerCase()
        const { rowCount } = await postgres.query(
          'SELECT FROM pixels WHERE pixel_id = $1 AND project_id = $2',
          [pixelId, projectId],
        )
        if (rowCount === 0) throw notFound.pixel()
        const { cookie: _cookie, ...own } = headers
        const { receipt } = await acceptBeacon(
          deps,
          { headers: own, ip, protocol, log },
          {
            pixel_id: pixelId,
            cookie_id: cookie_id?.toLowerCase(),
            client_ip,
            user_agent,
            events,
            sentAtMillis: Date.now(),
          },
          async () => true,
        )
        await audit(
          postgres,
          principal,
          'rejected_events.resend',
          { kind: 'pixel', id: pixelId },
          { accepted: receipt.accepted, rejected: receipt.rejected.length },
        )
        return {
          accepted: receipt.accepted,
          rejected: receipt.rejected.map(({ index, event_id = null, path, message }) => ({
            index,
            event_id,
            path,
            message,
          })),
        }
      },
    )
  }
