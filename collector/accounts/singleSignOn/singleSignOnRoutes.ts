import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import {
  requireCurrentRole,
  requireOrganizationAdmin,
  requireOwner,
} from '../../api/access/permissions.ts'
import { Nullable } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access, Deleted } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { forgetProvider, saveSingleSignOn } from './saveSettings.ts'
import {
  readSingleSignOn,
  redirectUriOf,
  SingleSignOn,
  SingleSignOnInput,
  toSingleSignOn,
} from './settings.ts'

const tags = ['Administration']
const path = '/api/v1/organization/single-sign-on'

/** /api/v1/organization/single-sign-on: the identity provider of the caller's organization. */
export const singleSignOnRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl } = deps
    const config = { access: access.organization }

    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'getSingleSignOn',
          summary: 'Get the single sign-on settings',
          description:
            'Requires the owner or admin role, or an organization key. `single_sign_on` is null if the organization has no identity provider. The client secret is never returned.',
          response: {
            200: Type.Object({
              single_sign_on: Nullable(SingleSignOn),
              redirect_uri: Type.String({
                description: 'Register this address as the redirect URI at the provider.',
              }),
            }),
          },
        },
      },
      async ({ principal }) => {
        requireOrganizationAdmin(principal)
        const { organizationId } = principal
        const stored = await readSingleSignOn(postgres, { organizationId })
        return {
          single_sign_on: stored ? toSingleSignOn(stored, publicUrl) : null,
          redirect_uri: redirectUriOf(publicUrl, organizationId),
        }
      },
    )

    app.put(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'setSingleSignOn',
          summary: 'Set the identity provider',
          description:
            'Requires the owner role. Contacts the provider first and returns 400 if `issuer` is not an OpenID Connect provider. Another issuer or client ends the sessions of members who signed in through the provider.',
          body: SingleSignOnInput,
          response: { 200: Type.Object({ single_sign_on: SingleSignOn }) },
        },
      },
      async ({ principal, body }) => {
        requireOwner(principal)
        return { single_sign_on: await saveSingleSignOn(deps, principal, body) }
      },
    )

    app.delete(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'deleteSingleSignOn',
          summary: 'Remove the identity provider',
          description:
            'Requires the owner role. Ends the sessions of members who signed in through the provider. Members without a password need a new invitation.',
          response: { 204: Deleted },
        },
      },
      async ({ principal }, reply) => {
        requireOwner(principal)
        const { organizationId } = principal
        await inTransaction(postgres, async (client) => {
          await lockOrganization(client, organizationId)
          await requireCurrentRole(client, principal)
          const stored = await readSingleSignOn(client, { organizationId })
          if (!stored) throw notFound.singleSignOn()
          await forgetProvider(client, organizationId)
          await client.query('DELETE FROM single_sign_on WHERE organization_id = $1', [
            organizationId,
          ])
          const { issuer, sign_in_name } = stored
          const object = { kind: 'organization', id: organizationId } as const
          await audit(client, principal, 'single_sign_on.delete', object, { issuer, sign_in_name })
        })
        return reply.code(204).send(null)
      },
    )
  }
