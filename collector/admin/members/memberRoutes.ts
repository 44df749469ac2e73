import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../access/audit.ts'
import { lockOrganization } from '../../access/organizationLock.ts'
import { requireCurrentRole, requireOrganizationAdmin, requireOwner } from '../../access/permissions.ts'
import type { Principal } from '../../access/principal.ts'
import { plainMemberId } from '../../access/visibility.ts'
import { conflict } from '../../http/errors.ts'
import { changesOf, requireVersion } from '../../http/optimisticLock.ts'
import { NextCursor, pageQuery, readPage } from '../../http/pagination.ts'
import { exactly, Id, Name, SeenVersion } from '../../http/schemas.ts'
import { mailTo } from '../../outbox/mails.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { AccountsDeps } from '../deps.ts'
import { KeysChoice, settleKeys } from '../keys/keysOfMember.ts'
import { access, Deleted, Email, OrganizationRole } from '../schemas.ts'
import { requireToken } from '../sessions/signInThrottle.ts'
import { invitationMail, invitationMails, newInvitation } from './invitations.ts'
import {
  addToProjects,
  Member,
  type MemberRow,
  ProjectOfMember,
  readMember,
  requireAnotherOwner,
  selectMembers,
  toMember,
} from './members.ts'

const InvitationUrl = Type.String({
  description: 'Where `by_mail` is false, pass it on to them. Good for seven days and for one sign-up.',
})
const ByMail = Type.Boolean({ description: 'Whether the link is mailed to them, too.' })
const tags = ['Administration']

/** /api/v1/organization/user*: the members of the caller's organization. */
export const memberRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl, sendMail } = deps
    const config = { access: access.organization }
    const invitationUrl = (token: string) => `${publicUrl}/invitation/${token}`

    /** Where this service sends mail: the link, once the invitation is stored. */
    async function mailInvitation(
      client: Queryable,
      { organizationId }: Principal,
      { email }: { email: string },
      token: string,
    ): Promise<void> {
      if (!sendMail) return
      await requireToken(client, [{ name: `invitation_mails:${organizationId}`, ...invitationMails }])
      await mailTo(client, email, await invitationMail(client, organizationId, email, invitationUrl(token)))
    }

    app.post(
      '/api/v1/organization/user/create',
      {
        config,
        schema: {
          tags,
          operationId: 'inviteMember',
          summary: 'Invite a member',
          description: 'For owners, admins and organization keys; only owners make owners.',
          body: exactly({
            email: Email,
            role: OrganizationRole,
            name: Type.Optional(Name),
            projects: Type.Optional(Type.Array(ProjectOfMember, { maxItems: 100 })),
          }),
          response: { 201: Type.Object({ member: Member, invitation_url: InvitationUrl, by_mail: ByMail }) },
        },
      },
      async ({ principal, body }, reply) => {
        requireOrganizationAdmin(principal)
        if (body.role === 'owner') requireOwner(principal)
        const id = randomUUID()
        const email = body.email.toLowerCase()
        const invitation = newInvitation()
        const member = await inTransaction(postgres, async (client) => {
          await requireCurrentRole(client, principal)
          const added = await client.query(
            `INSERT INTO members
               (member_id, organization_id, email, name, role, invitation_sha256, invitation_expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (organization_id, email) DO NOTHING`,
            [
              ...[id, principal.organizationId, email, body.name, body.role],
              ...[invitation.sha256, invitation.expiresAt],
            ],
          )
          if (added.rowCount === 0)
            throw conflict('Somebody with this e-mail address is a member of this organization already.')
          await addToProjects(client, principal.organizationId, id, body.projects ?? [])
          await audit(
            client,
            principal,
            'member.create',
            { kind: 'member', id },
            { email, role: body.role, projects: body.projects ?? [] },
          )
          const member = await readMember(client, principal, id)
          await mailInvitation(client, principal, member, invitation.token)
          return member
        })
        return reply.code(201).send({
          ...{ member, invitation_url: invitationUrl(invitation.token), by_mail: sendMail !== null },
        })
      },
    )

    app.get(
      '/api/v1/organization/user/list',
      {
        config,
        schema: {
          tags,
          operationId: 'listMembers',
          description: 'Oldest first, with those who are invited.',
          summary: 'List members',
          querystring: exactly(pageQuery),
          response: { 200: Type.Object({ members: Type.Array(Member), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        const { rows, next } = await readPage<MemberRow>(deps, query, {
          list: 'members',
          owner: principal.organizationId,
          sql: selectMembers,
          values: [principal.organizationId, plainMemberId(principal)],
          key: { created_at: 'timestamptz', member_id: 'uuid' },
        })
        return { members: rows.map(toMember), ...next }
      },
    )

    app.get(
      '/api/v1/organization/user/retrieve/:member_id',
      {
        config,
        schema: {
          tags,
          operationId: 'getMember',
          description: 'With the projects that a plain member belongs to.',
          summary: 'Get a member',
          params: exactly({ member_id: Id }),
          response: { 200: Type.Object({ member: Member }) },
        },
      },
      async ({ principal, params }) => ({ member: await readMember(postgres, principal, params.member_id) }),
    )

    app.put(
      '/api/v1/organization/user/update',
      {
        config,
        schema: {
          tags,
          operationId: 'updateMember',
          summary: 'Update a member, or renew their invitation',
          description:
            'For owners, admins and organization keys; only owners make or change owners. Renewing ends the invitation ' +
            'before. Where they have made API keys that may more than their new role, say what becomes of these: ' +
            'without `api_keys` the answer is 409 `conflict` and lists them.',
          body: exactly({
            member_id: Id,
            role: Type.Optional(OrganizationRole),
            name: Type.Optional(Name),
            renew_invitation: Type.Optional(Type.Literal(true)),
            api_keys: Type.Optional(KeysChoice),
            version: SeenVersion,
          }),
          response: {
            200: Type.Object({
              member: Member,
              invitation_url: Type.Optional(InvitationUrl),
              by_mail: Type.Optional(ByMail),
            }),
          },
        },
      },
      async ({ principal, body }) => {
        requireOrganizationAdmin(principal)
        return inTransaction(postgres, async (client) => {
          await lockOrganization(client, principal.organizationId)
          await requireCurrentRole(client, principal)
          const before = await readMember(client, principal, body.member_id, 'FOR NO KEY UPDATE')
          if ([before.role, body.role].includes('owner')) requireOwner(principal)
          requireVersion('member', before, body.version)
          if (body.role !== undefined && body.role !== 'owner') await requireAnotherOwner(client, before)
          if (body.renew_invitation && before.status === 'active') {
            throw conflict('They have accepted their invitation already.', { member: before })
          }
          const invitation = body.renew_invitation ? newInvitation() : null
          await client.query(
            `UPDATE members SET role = coalesce($2, role), name = coalesce($3, name),
               invitation_sha256 = coalesce($4, invitation_sha256),
               invitation_expires_at = coalesce($5, invitation_expires_at),
               version = version + 1, updated_at = now()
             WHERE member_id = $1`,
            [body.member_id, body.role, body.name, invitation?.sha256, invitation?.expiresAt],
          )
          const member = await readMember(client, principal, body.member_id)
          if (member.role !== before.role)
            await settleKeys(client, principal, member.member_id, body.api_keys)
          await audit(
            client,
            principal,
            'member.update',
            { kind: 'member', id: member.member_id },
            { ...changesOf(before, member), ...(invitation && { renewed_invitation: true }) },
          )
          if (!invitation) return { member }
          await mailInvitation(client, principal, member, invitation.token)
          const { token } = invitation
          return { member, invitation_url: invitationUrl(token), by_mail: sendMail !== null }
        })
      },
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
            'For owners, admins and organization keys; only owners remove owners. Where they have made API keys ' +
            'that still serve, say what becomes of these: without `api_keys` the answer is 409 `conflict` and lists ' +
            'them.',
          body: exactly({ member_id: Id, api_keys: Type.Optional(KeysChoice) }),
          response: { 200: Deleted },
        },
      },
      async ({ principal, body: { member_id, api_keys } }) => {
        requireOrganizationAdmin(principal)
        await inTransaction(postgres, async (client) => {
          await lockOrganization(client, principal.organizationId)
          await requireCurrentRole(client, principal)
          const member = await readMember(client, principal, member_id, 'FOR UPDATE')
          if (member.role === 'owner') requireOwner(principal)
          await requireAnotherOwner(client, member)
          await settleKeys(client, principal, member.member_id, api_keys, { isRemoved: true })
          const { email, role } = member
          await audit(
            client,
            principal,
            'member.delete',
            { kind: 'member', id: member.member_id },
            { email, role },
          )
          await client.query('DELETE FROM members WHERE member_id = $1', [member.member_id])
        })
        return { deleted: true as const }
      },
    )
  }
