import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import {
  requireCurrentRole,
  requireOrganizationAdmin,
  requireOwner,
} from '../../api/access/permissions.ts'
import type { Principal } from '../../api/access/principal.ts'
import { requireToken } from '../../api/access/tries.ts'
import { Id, Name, SeenVersion, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { Email, OrganizationRole } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { KeysChoice, settleKeys } from '../keys/keysOfMember.ts'
import { invitationMail, invitationMails, newInvitation } from './invitations.ts'
import {
  addToProjects,
  type Member,
  ProjectOfMember,
  readMember,
  requireAnotherOwner,
  requireNotEmergencyOwner,
} from './members.ts'

type Deps = Pick<AccountsDeps, 'postgres' | 'publicUrl' | 'sendMail'>

/** A member, and the link of their new invitation unless it is sent by mail. */
interface Invited {
  member: Member
  invitation_url: string | null
  by_mail: boolean
}

export const NewMember = strictObject({
  email: Email,
  role: OrganizationRole,
  name: Type.Optional(Name),
  projects: Type.Optional(Type.Array(ProjectOfMember, { maxItems: 100 })),
})

/** Invites a member. Throws 403, 404 for a foreign project, and 409 for an existing member. */
export async function inviteMember(
  deps: Deps,
  principal: Principal,
  { role, name, projects = [], ...body }: Static<typeof NewMember>,
): Promise<Invited> {
  requireOrganizationAdmin(principal)
  if (role === 'owner') requireOwner(principal)
  const id = randomUUID()
  const email = normalizedEmail(body.email)
  const { token, sha256, expiresAt } = newInvitation()
  return inTransaction(deps.postgres, async (client) => {
    await requireCurrentRole(client, principal)
    const added = await client.query(
      `INSERT INTO members
         (member_id, organization_id, email, name, role, invitation_sha256, invitation_expires_at, invitation_by_mail)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (organization_id, email) DO NOTHING`,
      [id, principal.organizationId, email, name, role, sha256, expiresAt, deps.sendMail !== null],
    )
    if (added.rowCount === 0)
      throw conflict(
        'already_exists',
        'A user with this e-mail address is already a member of this organization.',
      )
    await addToProjects(client, principal.organizationId, id, projects)
    await audit(
      client,
      principal,
      'member.create',
      { kind: 'member', id },
      { email, role, projects },
    )
    return sendInvitation(deps, client, principal, await readMember(client, principal, id), token)
  })
}

export const MemberChange = strictObject({
  member_id: Id,
  role: Type.Optional(OrganizationRole),
  name: Type.Optional(Name),
  renew_invitation: Type.Optional(Type.Literal(true)),
  api_keys: Type.Optional(KeysChoice),
  version: SeenVersion,
})

/**
 * Changes a member's role or name, or renews their invitation. Throws 403 without permission and 404 for
 * unknown members. Throws 409 for an outdated version, the last owner, an accepted invitation, or unsettled
 * keys.
 */
export async function updateMember(
  deps: Deps,
  principal: Principal,
  body: Static<typeof MemberChange>,
): Promise<{ member: Member } | Invited> {
  requireOrganizationAdmin(principal)
  return inTransaction(deps.postgres, async (client) => {
    await lockOrganization(client, principal.organizationId)
    await requireCurrentRole(client, principal)
    const before = await readMember(client, principal, body.member_id, 'FOR NO KEY UPDATE')
    if ([before.role, body.role].includes('owner')) requireOwner(principal)
    requireVersion('member', before, body.version)
    if (body.role !== undefined && body.role !== 'owner') {
      await requireAnotherOwner(client, before)
      await requireNotEmergencyOwner(client, before)
    }
    if (body.renew_invitation && before.status === 'active') {
      throw conflict('invalid_state', 'This member has already accepted the invitation.', {
        member: before,
      })
    }
    const invitation = body.renew_invitation ? newInvitation() : null
    await client.query(
      `UPDATE members SET role = coalesce($2, role), name = coalesce($3, name),
         invitation_sha256 = coalesce($4, invitation_sha256),
         invitation_expires_at = coalesce($5, invitation_expires_at),
         invitation_by_mail = CASE WHEN $4::bytea IS NULL THEN invitation_by_mail ELSE $6 END,
         version = version + 1, updated_at = now()
       WHERE member_id = $1`,
      [
        body.member_id,
        body.role,
        body.name,
        invitation?.sha256,
        invitation?.expiresAt,
        deps.sendMail !== null,
      ],
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
    return invitation
      ? sendInvitation(deps, client, principal, member, invitation.token)
      : { member }
  })
}

export const MemberRemoval = strictObject({ member_id: Id, api_keys: Type.Optional(KeysChoice) })

/** Removes a member. Throws 403, 404, and 409 for the last owner or keys to be settled. */
export async function removeMember(
  { postgres }: Deps,
  principal: Principal,
  { member_id, api_keys }: Static<typeof MemberRemoval>,
): Promise<void> {
  requireOrganizationAdmin(principal)
  await inTransaction(postgres, async (client) => {
    await lockOrganization(client, principal.organizationId)
    await requireCurrentRole(client, principal)
    const member = await readMember(client, principal, member_id, 'FOR UPDATE')
    if (member.role === 'owner') requireOwner(principal)
    await requireAnotherOwner(client, member)
    await requireNotEmergencyOwner(client, member)
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
}

/**
 * Sends the link of an invitation that is stored in this transaction. A mailed link is shown only to its
 * recipient, because it proves the address.
 */
async function sendInvitation(
  { publicUrl, sendMail }: Deps,
  client: Queryable,
  { organizationId }: Principal,
  member: Member,
  token: string,
): Promise<Invited> {
  const url = `${publicUrl}/invitation/${token}`
  if (sendMail) {
    await requireToken(client, [{ name: `invitation_mails:${organizationId}`, ...invitationMails }])
    await mailTo(
      client,
      member.email,
      await invitationMail(client, organizationId, member.email, url),
    )
  }
  return { member, invitation_url: sendMail ? null : url, by_mail: sendMail !== null }
}
