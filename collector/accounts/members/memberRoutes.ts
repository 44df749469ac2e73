import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { plainMemberId } from '../../api/access/visibility.ts'
import { Id, Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { access, Deleted } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import {
  inviteMember,
  MemberChange,
  MemberRemoval,
  NewMember,
  removeMember,
  updateMember,
} from './memberChanges.ts'
import { Member, readMember, selectMembers } from './members.ts'

const InvitationUrl = Nullable(Type.String(), {
  description:
    'Null where `by_mail` is true. Otherwise pass the link on to the member. It works once, for seven days.',
})
const ByMail = Type.Boolean({
  description:
    'Whether the service mails the link to the member. Only the member receives a mailed link.',
})
const tags = ['Administration']

/** /api/v1/organization/user*: the members of the caller's organization. */
export const memberRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    const config = { access: access.organization }

    app.post(
      '/api/v1/organization/user/create',
      {
        config: { ...config, sampleIds: { member: sampleIdentity.memberId } },
        schema: {
          tags,
          operationId: 'inviteMember',
          summary: 'Invite a member',
          description:
            'Requires the owner or admin role, or an organization key. Only owners can invite owners.',
          body: NewMember,
          response: {
            201: Type.Object({ member: Member, invitation_url: InvitationUrl, by_mail: ByMail }),
          },
        },
      },
      async ({ principal, body }, reply) =>
        reply.code(201).send(await inviteMember(deps, principal, body)),
    )

    app.get(
      '/api/v1/organization/user/list',
      {
        config,
        schema: {
          tags,
          operationId: 'listMembers',
          description: 'Returns the members and pending invitations, oldest first.',
          summary: 'List members',
          querystring: strictObject(pageQuery),
          response: { 200: Type.Object({ members: Type.Array(Member), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        const { rows, next } = await readPage<Member>(deps, query, {
          list: 'members',
          owner: principal.organizationId,
          sql: selectMembers,
          values: [principal.organizationId, plainMemberId(principal)],
          key: { created_at: 'timestamptz', member_id: 'uuid' },
        })
        return { members: rows, ...next }
      },
    )

    app.get(
      '/api/v1/organization/user/retrieve/:member_id',
      {
        config,
        schema: {
          tags,
          operationId: 'getMember',
          description: 'Returns the member and, for plain members, their projects.',
          summary: 'Get a member',
          params: strictObject({ member_id: Id }),
          response: { 200: Type.Object({ member: Member }) },
        },
      },
      async ({ principal, params }) => ({
        member: await readMember(postgres, principal, params.member_id),
      }),
    )

    app.put(
      '/api/v1/organization/user/update',
      {
        config,
        schema: {
          tags,
          operationId: 'updateMember',
          summary: 'Update a member',
          description:
            'Requires the owner or admin role, or an organization key. Only owners can appoint or change owners. Renewing an invitation ends the previous one. If the member created API keys that exceed the new role, set `api_keys`; without it, the answer is 409 `conflict` and lists these keys.',
          body: MemberChange,
          response: {
            200: Type.Object({
              member: Member,
              invitation_url: Type.Optional(InvitationUrl),
              by_mail: Type.Optional(ByMail),
            }),
          },
        },
      },
      async ({ principal, body }) => updateMember(deps, principal, body),
    )

    app.delete(
      '/api/v1/organization/user/delete',
      {
        config,
        schema: {
          tags,
          operationId: 'removeMember',
          summary: 'Remove a member',
          description:
            'Requires the owner or admin role, or an organization key. Only owners can remove owners. If the member created active API keys, set `api_keys`; without it, the answer is 409 `conflict` and lists these keys.',
          body: MemberRemoval,
          response: { 204: Deleted },
        },
      },
      async ({ principal, body }, reply) => {
        await removeMember(deps, principal, body)
        return reply.code(204).send(null)
      },
    )
  }
