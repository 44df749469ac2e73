import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import { requireOrganizationAdmin, requireOwner } from '../../api/access/permissions.ts'
import {
  Id,
  Name,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { invalidParameter, unauthorized } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access, DeletedWithEvents, EventsChoice } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { requestDeletion } from '../projects/eventDeletions.ts'

const Organization = Type.Object(
  {
    organization_id: Id,
    name: Type.String(),
    secret_required: Type.Boolean({
      description: 'Whether requests with an API key must carry its secret too.',
    }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Organization' },
)
type Organization = Static<typeof Organization>

const Answer = Type.Object({ organization: Organization })
const tags = ['Administration']

/** /api/v1/organization: the caller's own organization. */
export const organizationRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.organization }

    app.get(
      '/api/v1/organization',
      {
        config: { access: access.organizationRead },
        schema: {
          tags,
          operationId: 'getOrganization',
          description: 'Returns the organization of the caller’s key, token or session.',
          summary: 'Get the organization',
          response: { 200: Answer },
        },
      },
      async ({ principal }) => ({
        organization: await readOrganization(postgres, principal.organizationId),
      }),
    )

    app.put(
      '/api/v1/organization',
      {
        config,
        schema: {
          tags,
          operationId: 'updateOrganization',
          summary: 'Update the organization',
          description: 'Requires the owner or admin role, or an organization key.',
          body: strictObject({
            name: Type.Optional(Name),
            secret_required: Type.Optional(Type.Boolean()),
            version: SeenVersion,
          }),
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => {
        requireOrganizationAdmin(principal)
        const id = principal.organizationId
        return inTransaction(postgres, async (client) => {
          await lockOrganization(client, id)
          const before = await readOrganization(client, id)
          requireVersion('organization', before, body.version)
          await client.query(
            `UPDATE organizations SET name = coalesce($2, name), secret_required = coalesce($3, secret_required),
               version = version + 1, updated_at = now()
             WHERE organization_id = $1`,
            [id, body.name, body.secret_required],
          )
          const organization = await readOrganization(client, id)
          await audit(
            client,
            principal,
            'organization.update',
            { kind: 'organization', id },
            changesOf(before, organization),
          )
          return { organization }
        })
      },
    )

    app.delete(
      '/api/v1/organization',
      {
        config,
        schema: {
          tags,
          operationId: 'deleteOrganization',
          summary: 'Delete the organization',
          description:
            'Requires an owner or an organization key. Also deletes its members, projects, pixels and keys.',
          body: strictObject({
            confirm: Type.String({ maxLength: 200, description: 'The name of the organization.' }),
            events: EventsChoice,
          }),
          response: { 200: DeletedWithEvents },
        },
      },
      async ({ principal, body: { confirm, events } }) => {
        requireOwner(principal)
        const id = principal.organizationId
        await inTransaction(postgres, async (client) => {
          await lockOrganization(client, id)
          const { name } = await readOrganization(client, id)
          if (confirm !== name)
            throw invalidParameter('confirm', 'must be the name of the organization')
          if (events === 'delete') await requestDeletion(client, { organizationId: id })
          await audit(
            client,
            principal,
            'organization.delete',
            { kind: 'organization', id },
            { name, events },
          )
          await client.query('DELETE FROM organizations WHERE organization_id = $1', [id])
        })
        return { deleted: true as const, events }
      },
    )
  }

async function readOrganization(client: Queryable, organizationId: string): Promise<Organization> {
  const [organization] = await readRecords<Organization>(
    client,
    `SELECT organization_id, name, secret_required, version, created_at, updated_at
     FROM organizations WHERE organization_id = $1`,
    [organizationId],
  )
  // The cache of keys and sessions can outlive the organization for a moment.
  if (!organization) throw unauthorized.key()
  return organization
}
