/** A caller whose rights ended a moment ago changes nothing more, although its request was let in. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../../../collector/accounts/keys/apiKeys.ts'
import { storeMember } from '../../../../collector/accounts/members/newMember.ts'
import { requireCurrentRole } from '../../../../collector/api/access/permissions.ts'
import type { Principal } from '../../../../collector/api/access/principal.ts'
import { openPostgres, type Postgres } from '../../../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../../../harness/databases.ts'
import { storeOrganization } from '../../../harness/owners.ts'

let postgres: Postgres
const organizationId = randomUUID()
beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
  await storeOrganization(postgres, organizationId)
})
afterAll(() => postgres.end())

async function newKey(): Promise<Principal['caller']> {
  const keyId = randomUUID()
  const owner = { organizationId, projectId: null }
  await storeApiKey(postgres, owner, 'live', 'key', newApiCredentials('live'), {
    keyId,
    role: 'admin',
    maker: null,
  })
  return { kind: 'key', keyId, role: 'admin' }
}

async function newMember(): Promise<Principal['caller']> {
  const memberId = randomUUID()
  await storeMember(postgres, {
    memberId,
    organizationId,
    email: `${memberId}@acme.example`,
    role: 'admin',
    passwordHash: '!',
  })
  return { kind: 'member', memberId, role: 'admin' }
}

test.each([
  ['a key that is revoked', newKey, 'UPDATE api_keys SET revoked_at = now()'],
  ['a key that has expired', newKey, 'UPDATE api_keys SET expires_at = now()'],
  ['a key with a lower role', newKey, "UPDATE api_keys SET role = 'read'"],
  ['a member with a lower role', newMember, "UPDATE members SET role = 'member'"],
  ['a member who is removed', newMember, 'DELETE FROM members'],
])('%s', async (_, newCaller, end) => {
  const principal = {
    organizationId,
    projectId: null,
    mode: 'live',
    caller: await newCaller(),
  } as const
  await requireCurrentRole(postgres, principal)
  await postgres.query(end)
  await expect(requireCurrentRole(postgres, principal)).rejects.toMatchObject({ status: 403 })
})
