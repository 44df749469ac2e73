import { randomUUID } from 'node:crypto'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import type { Role } from '../../api/access/principal.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { settleKeys } from '../keys/keysOfMember.ts'
import type { Claims } from './provider.ts'
import type { StoredSingleSignOn } from './settings.ts'

/** Why a sign-in ends without a session. */
export type Refusal =
  | 'expired'
  | 'email_missing'
  | 'email_unverified'
  | 'domain_refused'
  | 'group_refused'
  | 'identity_conflict'

export class SignInRefused extends Error {
  readonly reason: Refusal

  constructor(reason: Refusal) {
    super(reason)
    this.reason = reason
  }
}

const roles: readonly Role[] = ['member', 'admin', 'owner']
const emailPattern = /^[^\s@]{1,64}@[a-z0-9.-]{1,190}$/
const groupsMax = 2_000

/** Reads a person's identity at the provider, and the role by their groups. Throws SignInRefused. */
export function personOf(claims: Claims, settings: StoredSingleSignOn) {
  const email = typeof claims.email === 'string' ? normalizedEmail(claims.email) : ''
  if (!emailPattern.test(email)) throw new SignInRefused('email_missing')
  if (!isVerified(claims)) throw new SignInRefused('email_unverified')
  if (!settings.email_domains.includes(email.split('@')[1]!))
    throw new SignInRefused('domain_refused')
  if (!/^[\x20-\x7e]{1,255}$/.test(claims.sub)) throw new Error('the subject is not plain text')
  const groups = new Set([claims[settings.group_claim] ?? []].flat().slice(0, groupsMax))
  const ranks = settings.group_roles
    .filter(({ group }) => groups.has(group))
    .map(({ role }) => roles.indexOf(role))
  const role = ranks.length === 0 ? settings.default_role : roles[Math.max(...ranks)]!
  const name = typeof claims.name === 'string' ? storable(claims.name) : ''
  return { subject: claims.sub, email, role, name: name || null }
}

/** `xms_edov` is Microsoft Entra ID's word for it; some providers write booleans as text. */
const isVerified = ({ email_verified, xms_edov }: Claims): boolean =>
  [true, 'true'].includes(email_verified as boolean) ||
  (email_verified === undefined && [true, 'true', 1, '1'].includes(xms_edov as boolean))

const storable = (name: string): string =>
  name
    .replace(/\p{Cc}/gu, '')
    .slice(0, 200)
    .toWellFormed()
    .trim()

interface ProviderMember {
  readonly memberId: string
  readonly role: Role
}

interface MemberRow {
  member_id: string
  role: Role
  is_known: boolean
  is_other: boolean
}

/**
 * The member that a person is, who is created or linked at the first sign-in. With `group_roles`, each sign-in sets
 * the role by the groups. It reads members of this organization only, and changes no account of the same address elsewhere.
 * Null for a person without a role: a member who lost the last one also loses their API keys and sessions. Call it in a
 * transaction that commits in both cases. Throws SignInRefused.
 */
export async function memberOfPerson(
  client: Queryable,
  settings: StoredSingleSignOn,
  { subject, email, role: roleByGroups, name }: ReturnType<typeof personOf>,
): Promise<ProviderMember | null> {
  const { organization_id: organizationId, issuer } = settings
  await lockOrganization(client, organizationId)
  const { rows } = await client.query<MemberRow>(
    `SELECT member_id, role, provider_subject IS NOT NULL AND provider_issuer = $2 AND provider_subject = $3 AS is_known,
       provider_subject IS NOT NULL AND (provider_issuer, provider_subject) <> ($2, $3) AS is_other
     FROM members WHERE organization_id = $1
       AND ((provider_issuer = $2 AND provider_subject = $3) OR email = $4)
     ORDER BY is_known DESC LIMIT 1`,
    [organizationId, issuer, subject, email],
  )
  const member = rows[0]
  // The address now belongs to another user of the provider, who must not inherit the member.
  if (member?.is_other) throw new SignInRefused('identity_conflict')
  // Without group_roles the organization assigns roles itself.
  const keepsRole =
    settings.group_roles.length === 0 || member?.member_id === settings.emergency_member_id
  if (roleByGroups === null) {
    if (member?.is_known && !keepsRole) await endRole(client, organizationId, member)
    return null
  }
  if (!member) return createMember(client, settings, { subject, email, role: roleByGroups, name })
  const memberId = member.member_id
  const role = keepsRole ? member.role : roleByGroups
  await client.query(
    `UPDATE members SET role = $2, provider_issuer = $3, provider_subject = $4, name = coalesce(name, $5),
       invitation_sha256 = NULL, invitation_expires_at = NULL, invitation_by_mail = false, last_used_at = now(),
       version = version + CASE WHEN $6 THEN 1 ELSE 0 END, updated_at = CASE WHEN $6 THEN now() ELSE updated_at END
     WHERE member_id = $1`,
    [memberId, role, issuer, subject, name, !member.is_known || role !== member.role],
  )
  const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
  const object = { kind: 'member', id: memberId } as const
  if (!member.is_known) await audit(client, actor, 'member.link_provider', object, { issuer })
  if (role !== member.role) {
    await auditRole(client, actor, memberId, { from: member.role, to: role })
    const principal = { ...actor, projectId: null, mode: 'live' } as const
    await settleKeys(client, principal, memberId, 'revoke')
  }
  return { memberId, role }
}

/** Ends what a member may do who is in no group that has a role: they keep the lowest role, without keys and sessions. */
async function endRole(
  client: Queryable,
  organizationId: string,
  { member_id: memberId, role }: MemberRow,
): Promise<void> {
  const caller = { kind: 'member', memberId, role: 'member' } as const
  const principal = { organizationId, caller, projectId: null, mode: 'live' } as const
  await settleKeys(client, principal, memberId, 'revoke', { isRemoved: true })
  await client.query('DELETE FROM sessions WHERE member_id = $1', [memberId])
  if (role === 'member') return
  await client.query(
    `UPDATE members SET role = 'member', version = version + 1, updated_at = now() WHERE member_id = $1`,
    [memberId],
  )
  await auditRole(client, principal, memberId, { from: role, to: 'member' })
}

const auditRole = (
  client: Queryable,
  actor: Parameters<typeof audit>[1],
  memberId: string,
  role: { from: Role; to: Role },
): Promise<void> =>
  audit(client, actor, 'member.update', { kind: 'member', id: memberId }, { role, by_groups: true })

async function createMember(
  client: Queryable,
  { organization_id: organizationId, issuer }: StoredSingleSignOn,
  { subject, email, role, name }: ReturnType<typeof personOf> & { role: Role },
): Promise<ProviderMember> {
  const memberId = randomUUID()
  await client.query(
    `INSERT INTO members
       (member_id, organization_id, email, name, role, provider_issuer, provider_subject, last_used_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now())`,
    [memberId, organizationId, email, name, role, issuer, subject],
  )
  const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
  await audit(
    client,
    actor,
    'member.join',
    { kind: 'member', id: memberId },
    { email, role, issuer },
  )
  return { memberId, role }
}
