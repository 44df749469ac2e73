import type { Static } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/locks.ts'
import { requireCurrentRole } from '../../api/access/permissions.ts'
import type { Principal } from '../../api/access/principal.ts'
import { conflict, invalidParameter, notFound } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { discoverProvider } from './provider.ts'
import {
  readSingleSignOn,
  type SingleSignOn,
  type SingleSignOnInput,
  type StoredSingleSignOn,
  secretPurpose,
  toSingleSignOn,
} from './settings.ts'

/** Deletes what depends on the organization's provider: sessions, sign-ins, identities of members. */
export async function forgetProvider(client: Queryable, organizationId: string): Promise<void> {
  await client.query(
    'DELETE FROM sessions WHERE member_id IN (SELECT member_id FROM members WHERE organization_id = $1)',
    [organizationId],
  )
  await client.query('DELETE FROM provider_sign_ins WHERE organization_id = $1', [organizationId])
  await client.query(
    'UPDATE members SET provider_issuer = NULL, provider_subject = NULL WHERE organization_id = $1',
    [organizationId],
  )
}

/**
 * Stores the provider of the principal's organization, after the provider has answered. Throws 400 for a wrong
 * issuer, a missing secret or an owner without a password. Throws 409 for another version or a name that is taken.
 */
export async function saveSingleSignOn(
  { postgres, publicUrl, outbound, secretBox }: AccountsDeps,
  principal: Principal,
  { version, client_secret, ...body }: Static<typeof SingleSignOnInput>,
): Promise<SingleSignOn> {
  const { organizationId } = principal
  const input = { group_claim: 'groups', ...body }
  const purpose = secretPurpose(organizationId)
  const before = await readSingleSignOn(postgres, { organizationId })
  // A stored secret is only sent to its own issuer; a changed issuer could otherwise collect it.
  const keepsSecret = before?.issuer === input.issuer && before.client_id === input.client_id
  const clientSecret =
    client_secret ?? (keepsSecret ? secretBox.open(before.client_secret, purpose) : undefined)
  if (clientSecret === undefined)
    throw invalidParameter(
      'client_secret',
      'is required, at first and with another issuer or client_id',
    )
  await requireEmergencyOwner(postgres, organizationId, input.emergency_member_id)
  const { issuer, client_id: clientId } = input
  await discoverProvider(outbound, { issuer, clientId, clientSecret })
  const sealed = client_secret === undefined ? null : secretBox.seal(client_secret, purpose)
  return inTransaction(postgres, async (client) => {
    await lockOrganization(client, organizationId)
    await requireCurrentRole(client, principal)
    const current = await readSingleSignOn(client, { organizationId })
    if (current) requireVersion('single_sign_on', toSingleSignOn(current, publicUrl), version)
    const isSameClient = current?.issuer === issuer && current.client_id === clientId
    if (!isSameClient && sealed === null)
      throw conflict('invalid_state', 'The settings have changed meanwhile. Reload them.')
    await requireEmergencyOwner(client, organizationId, input.emergency_member_id)
    if (current && !isSameClient) await forgetProvider(client, organizationId)
    const stored = await store(client, organizationId, input, sealed)
    const now = toSingleSignOn(stored, publicUrl)
    const details = {
      ...changesOf(current ? toSingleSignOn(current, publicUrl) : ({} as SingleSignOn), now),
      ...(sealed !== null && { client_secret: 'changed' }),
    }
    const object = { kind: 'organization', id: organizationId } as const
    await audit(client, principal, 'single_sign_on.update', object, details)
    return now
  })
}

async function requireEmergencyOwner(
  client: Queryable,
  organizationId: string,
  memberId: string,
): Promise<void> {
  const { rows } = await client.query<{ is_good: boolean }>(
    `SELECT role = 'owner' AND coalesce(password_hash LIKE '$%', false) AS is_good
     FROM members LEFT JOIN users USING (user_id) WHERE organization_id = $1 AND member_id = $2`,
    [organizationId, memberId],
  )
  if (!rows[0]) throw notFound.member()
  if (!rows[0].is_good)
    throw invalidParameter(
      'emergency_member_id',
      'must be an owner of the organization who has a password',
    )
}

async function store(
  client: Queryable,
  organizationId: string,
  input: Omit<
    StoredSingleSignOn,
    'organization_id' | 'client_secret' | 'version' | 'created_at' | 'updated_at'
  >,
  sealed: string | null,
): Promise<StoredSingleSignOn> {
  const taken = await client.query(
    'SELECT FROM single_sign_on WHERE sign_in_name = $1 AND organization_id <> $2',
    [input.sign_in_name, organizationId],
  )
  if (taken.rowCount !== 0)
    throw conflict('already_exists', 'Another organization uses this sign_in_name. Choose another.')
  const [saved] = await readRecords<StoredSingleSignOn>(
    client,
    `INSERT INTO single_sign_on (organization_id, sign_in_name, provider_name, issuer, client_id, client_secret,
       email_domains, group_claim, group_roles, default_role, required, emergency_member_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (organization_id) DO UPDATE SET
       sign_in_name = excluded.sign_in_name, provider_name = excluded.provider_name, issuer = excluded.issuer,
       client_id = excluded.client_id,
       client_secret = coalesce(nullif(excluded.client_secret, ''), single_sign_on.client_secret),
       email_domains = excluded.email_domains, group_claim = excluded.group_claim,
       group_roles = excluded.group_roles, default_role = excluded.default_role, required = excluded.required,
       emergency_member_id = excluded.emergency_member_id,
       version = single_sign_on.version + 1, updated_at = now()
     RETURNING *`,
    [
      organizationId,
      input.sign_in_name,
      input.provider_name,
      input.issuer,
      input.client_id,
      sealed ?? '',
      input.email_domains,
      input.group_claim,
      JSON.stringify(input.group_roles),
      input.default_role,
      input.required,
      input.emergency_member_id,
    ],
  )
  return saved!
}
