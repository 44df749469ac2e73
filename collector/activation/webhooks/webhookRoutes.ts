import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { requireWholeOrganization } from '../../api/access/permissions.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { access, writeAccess } from '../../api/access/recordAccess.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { OutboundError } from '../../platform/outbound/outboundError.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { lockWebhook } from './lockWebhook.ts'
import {
  ById,
  ListQuery,
  NewWebhook,
  One,
  Page,
  ProjectQuery,
  tags,
  WebhookChange,
  WithSecret,
} from './webhookSchemas.ts'
import {
  changeWebhook,
  createWebhook,
  listWebhooks,
  readWebhook,
  rotateSecret,
} from './webhooks.ts'
import type { WebhooksDeps } from './webhooksDeps.ts'

const path = '/api/v1/webhooks'
const onePath = `${path}/:webhook_id`

/** Routes that create, list, read, change and delete webhooks, and rotate their secret. */
export const webhookRoutes =
  (deps: WebhooksDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf, secretBox } = deps

    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { webhook: sampleIdentity.webhookId } },
        schema: {
          tags,
          operationId: 'createWebhook',
          summary: 'Create a webhook',
          body: NewWebhook,
          description:
            'Requires the owner or admin role, or the project admin role for a webhook of a project. Messages are `{ type, timestamp, data }`, signed according to Standard Webhooks. Only this answer contains the `secret`. A `url` in a private network returns 400.',
          response: { 201: WithSecret },
        },
      },
      async ({ principal, body: { project_id, ...body } }, reply) => {
        const projectId = await ownerOf(postgres, principal, project_id)
        await requireReachableUrl(deps, body.url)
        const created = await inTransaction(postgres, async (client) => {
          const made = await createWebhook(
            client,
            secretBox,
            principal.organizationId,
            projectId,
            body,
          )
          const { id, url, event_types } = made.webhook
          await audit(
            client,
            principal,
            'webhook.create',
            { kind: 'webhook', id },
            { url, event_types },
          )
          return made
        })
        return reply.code(201).send(created)
      },
    )

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listWebhooks',
          summary: 'List webhooks',
          querystring: ListQuery,
          description:
            'Returns the webhooks of `project_id`, or of every project that the caller can access. Sorted by creation time, oldest first.',
          response: { 200: Page },
        },
      },
      async ({ principal, query: { project_id, ...page } }) =>
        listWebhooks(deps, await recordScopeOf(principal, project_id), page),
    )

    app.get(
      onePath,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getWebhook',
          summary: 'Get a webhook',
          params: ById,
          querystring: ProjectQuery,
          description: 'Returns the webhook with its latest error, without its secret.',
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        return { webhook: await readWebhook(postgres, scope, params.webhook_id) }
      },
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateWebhook',
          summary: 'Update a webhook',
          params: ById,
          querystring: ProjectQuery,
          body: WebhookChange,
          description:
            'Omitted fields keep their values. While `enabled` is false, nothing is sent and no events are kept for it. When it becomes true, waiting messages are sent.',
          response: { 200: One },
        },
      },
      async (request) => {
        const { principal, body } = request
        if (body.url !== undefined) {
          await requireReachableUrl(deps, body.url)
        }
        return lockWebhook(deps, request, async (client, webhook) => {
          const changed = await changeWebhook(client, webhook, body)
          const object = { kind: 'webhook', id: webhook.id } as const
          await audit(client, principal, 'webhook.update', object, changesOf(webhook, changed))
          return { webhook: changed }
        })
      },
    )

    app.delete(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'deleteWebhook',
          summary: 'Delete a webhook',
          params: ById,
          querystring: ProjectQuery,
          description: 'Also deletes its deliveries. Messages in progress can still arrive.',
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async (request, reply) => {
        const { principal } = request
        await lockWebhook(deps, request, async (client, { id, url }) => {
          await client.query('DELETE FROM webhooks WHERE webhook_id = $1', [id])
          await audit(client, principal, 'webhook.delete', { kind: 'webhook', id }, { url })
        })
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${onePath}/secret/rotate`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'rotateWebhookSecret',
          summary: 'Rotate the secret of a webhook',
          params: ById,
          querystring: ProjectQuery,
          description:
            'Returns the new secret, which is shown only once. For a day, messages have signatures of both secrets, the new one first.',
          response: { 200: WithSecret },
        },
      },
      async (request) =>
        lockWebhook(deps, request, async (client, webhook) => {
          const rotated = await rotateSecret(client, secretBox, webhook)
          await audit(client, request.principal, 'webhook.rotate_secret', {
            kind: 'webhook',
            id: webhook.id,
          })
          return rotated
        }),
    )
  }

/** Throws 400 for an address to which messages must not be sent. */
async function requireReachableUrl({ outbound }: WebhooksDeps, url: string): Promise<void> {
  try {
    await outbound.check(url)
  } catch (error) {
    if (error instanceof OutboundError) throw invalidParameter('url', error.message)
    throw error
  }
}

/**
 * Returns the project of a new webhook, or null for the organization. Throws 403 and 404 like projectFor, and
 * 403 for a plain member who names no project.
 */
async function ownerOf(
  postgres: Postgres,
  principal: Principal,
  requestedProjectId: string | undefined,
): Promise<string | null> {
  if (requestedProjectId !== undefined || principal.projectId !== null)
    return (await projectFor(postgres, principal, 'records', requestedProjectId, 'write')).projectId
  requireWholeOrganization(principal)
  return null
}
