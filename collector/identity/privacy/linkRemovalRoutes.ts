import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { hemOf } from '../../platform/hem.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { type LinkRemoval, requestLinkRemoval, selectLinkRemovals } from './linkRemovals.ts'
import { access } from './privacyAccess.ts'
import type { PrivacyDeps } from './privacyDeps.ts'
import { SubjectParameters, tags } from './privacySchemas.ts'

const path = '/api/v1/privacy/link-removals'

const PublicLinkRemoval = Type.Object(
  {
    removal_id: Id,
    status: Choice(['pending', 'complete'], {
      description:
        '`pending`: the link is being removed, or an earlier observation may still arrive.',
    }),
    requested_at: Timestamp,
    completed_at: Nullable(Timestamp),
  },
  { title: 'LinkRemoval' },
)

/** Routes that remove one wrong link between a browser and a person. */
export const linkRemovalRoutes =
  (deps: PrivacyDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listLinkRemovals',
          summary: 'List removals of identity links',
          description:
            'Requires the owner or admin role in the organization. Returns the removals without their ids of people, oldest first.',
          querystring: strictObject(pageQuery),
          response: {
            200: Type.Object({
              link_removals: Type.Array(PublicLinkRemoval),
              next_cursor: NextCursor,
            }),
          },
        },
      },
      async ({ principal, query }) => {
        requireOrganizationAdmin(principal)
        const { rows, next } = await readPage<LinkRemoval>(deps, query, {
          list: 'link_removals',
          owner: principal.organizationId,
          sql: selectLinkRemovals,
          values: [principal.organizationId],
          key: { requested_at: 'timestamptz', removal_id: 'uuid' },
        })
        return { link_removals: rows, ...next }
      },
    )

    app.post(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'removeIdentityLink',
          summary: 'Remove one identity link',
          description:
            'Requires the owner or admin role in the organization. Removes the link between the browser `cookie_id` and the person `hem` or `email` that your sites observed or you loaded. The person, the events and all other links remain. The answer does not tell whether there was a link. A later `identify` call makes the link again. Links of the operator’s graph remain. Not billed.',
          body: strictObject({
            cookie_id: Id,
            hem: SubjectParameters.hem,
            email: SubjectParameters.email,
          }),
          response: { 202: Type.Object({ link_removal: PublicLinkRemoval }) },
        },
      },
      async ({ principal, body: { cookie_id, hem, email } }, reply) => {
        requireOrganizationAdmin(principal)
        if ((hem === undefined) === (email === undefined))
          throw invalidParameter('hem', 'or email is required, and only one of the two')
        const link = {
          cookieId: cookie_id,
          hem: hem === undefined ? hemOf(email!) : hem.toLowerCase(),
        }
        const removal = await inTransaction(postgres, async (client) => {
          const requested = await requestLinkRemoval(client, principal.organizationId, link)
          // The log outlives the person's data, so it does not identify the person.
          const object = { kind: 'link_removal', id: requested.removal_id } as const
          await audit(client, principal, 'link_removal.create', object)
          return requested
        })
        return reply.code(202).send({ link_removal: removal })
      },
    )
  }
