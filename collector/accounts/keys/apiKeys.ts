import { randomBytes, randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { apiKeyPrefix, sha256 } from '../../api/access/authenticate.ts'
import {
  coversRole,
  highestKeyRole,
  requireCurrentRole,
  requireOrganizationAdmin,
} from '../../api/access/permissions.ts'
import { projectFor, projectOfObject } from '../../api/access/policy.ts'
import { callerId, type KeyRole, type Principal } from '../../api/access/principal.ts'
import { isVisibleProject, plainMemberId } from '../../api/access/visibility.ts'
import { Id, Name, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { forbidden, invalidParameter, notFound, unauthorized } from '../../api/http/errors.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'

/** A new key, shown once. The database stores only its hashes (spec: API credentials). */
export interface ApiCredentials {
  /** "ff_live_…" or "ff_test_…". */
  apiKey: string
  /** 64 hexadecimal characters. */
  apiSecret: string
}

const shownChars = 'ff_live_'.length + 6

export const newApiCredentials = (mode: 'live' | 'test'): ApiCredentials => ({
  apiKey: `${apiKeyPrefix}${mode}_${randomBytes(16).toString('hex')}`,
  apiSecret: randomBytes(32).toString('hex'),
})

/** Without these facts the key belongs to the operator and has full access in its scope. */
interface KeyMaking {
  keyId: string
  role: KeyRole
  /** Absent: the key works until it is revoked. */
  expiresAt?: Date | undefined
  /** Null: the operator. */
  maker: { memberId: string; email: string } | null
}

/** Stores a key of an organization or of one of its projects. Storing the same key again changes nothing. */
export async function storeApiKey(
  client: Queryable,
  owner: { organizationId: string; projectId: string | null },
  mode: 'live' | 'test',
  name: string,
  { apiKey, apiSecret }: ApiCredentials,
  { keyId, role, maker, expiresAt }: KeyMaking = {
    keyId: randomUUID(),
    role: owner.projectId === null ? 'owner' : 'admin',
    maker: null,
  },
): Promise<void> {
  await client.query(
    `INSERT INTO api_keys (key_id, organization_id, project_id, mode, name, key_prefix, key_sha256,
       secret_sha256, role, created_by, created_by_member_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (key_sha256) DO NOTHING`,
    [
      keyId,
      owner.organizationId,
      owner.projectId,
      mode,
      name,
      apiKey.slice(0, shownChars),
      sha256(apiKey),
      sha256(apiSecret),
      role,
      maker?.email,
      maker?.memberId,
      expiresAt,
    ],
  )
}

const Mode = Type.Union([Type.Literal('live'), Type.Literal('test')])
const Role = Type.Union(
  [Type.Literal('read'), Type.Literal('write'), Type.Literal('admin'), Type.Literal('owner')],
  {
    description:
      '`read`: data, projects and pixels. `write`: also campaigns and their metrics. `admin` and `owner`: also the administration that members with this role can do. A project key can have at most `admin`.',
  },
)
export const Key = Type.Object(
  {
    key_id: Id,
    name: Type.String(),
    key_prefix: Type.String({
      description: 'The prefix of the key, which identifies it in lists.',
    }),
    scope: Type.Union([Type.Literal('organization'), Type.Literal('project')]),
    project_id: Nullable(Id),
    mode: Mode,
    role: Role,
    created_at: Timestamp,
    created_by: Nullable(
      Type.String({ description: 'The e-mail address of the member who created it.' }),
    ),
    created_by_member_id: Nullable(Id),
    last_used_at: Nullable(Timestamp),
    expires_at: Nullable(Timestamp, {
      description: 'When the key expires. Null: it works until it is revoked.',
    }),
  },
  { title: 'Key' },
)
export type Key = Static<typeof Key>

const tags = ['Dashboard']

/** /dashboard/keys: creates and revokes keys; no other route creates them (spec: Authentication 2). */
export const keyRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.session }

    app.get(
      '/dashboard/keys',
      {
        config,
        schema: {
          tags,
          operationId: 'listApiKeys',
          summary: 'List API keys',
          description:
            'Returns the keys that are not revoked. Plain members see the keys of their own projects.',
          querystring: strictObject({ project_id: Type.Optional(Id) }),
          response: { 200: Type.Object({ keys: Type.Array(Key) }) },
        },
      },
      async ({ principal, query: { project_id } }) => {
        const project =
          project_id &&
          (await projectFor(postgres, principal, 'administration', project_id, 'read'))
        const keys = await readRecords<Key>(
          postgres,
          `${selectKeys} AND ${isVisibleProject('project_id', '$2', '$3')} ORDER BY created_at DESC, key_id`,
          [principal.organizationId, project ? project.projectId : null, plainMemberId(principal)],
        )
        return { keys }
      },
    )

    app.post(
      '/dashboard/keys',
      {
        config,
        schema: {
          tags,
          operationId: 'createApiKey',
          summary: 'Create an API key',
          description:
            'Requires an organization admin for an organization key, or a project admin for a project key. The key gets at most the role of its creator; `role` can lower it. The answer shows the secret, which is never shown again.',
          body: strictObject({
            name: Name,
            mode: Mode,
            project_id: Type.Optional(Nullable(Id)),
            role: Type.Optional(Role),
            expires_at: Type.Optional(
              Nullable(Timestamp, {
                description: 'A future time. Default: the key does not expire.',
              }),
            ),
          }),
          response: {
            201: Type.Object({ key: Key, api_key: Type.String(), api_secret: Type.String() }),
          },
        },
      },
      async (
        { principal, body: { name, mode, project_id, role: requestedRole, expires_at } },
        reply,
      ) => {
        if (!project_id) requireOrganizationAdmin(principal)
        const project = project_id
          ? await projectFor(postgres, principal, 'administration', project_id, 'write')
          : null
        const projectId = project?.projectId ?? null
        const highestRole = highestKeyRole(principal, projectId)
        const role = requestedRole ?? highestRole
        if (!coversRole(highestRole, role))
          throw forbidden(`You can create keys with the role ${highestRole} or lower.`)
        const expiresAt = readExpiry(expires_at)
        const credentials = newApiCredentials(mode)
        const keyId = randomUUID()
        const key = await inTransaction(postgres, async (client) => {
          await requireCurrentRole(client, principal)
          const owner = { organizationId: principal.organizationId, projectId }
          const maker = { memberId: callerId(principal), email: await emailOf(client, principal) }
          await storeApiKey(client, owner, mode, name, credentials, {
            keyId,
            role,
            maker,
            expiresAt,
          })
          await audit(
            client,
            principal,
            'key.create',
            { kind: 'key', id: keyId },
            { name, mode, role, project_id: projectId, ...(expiresAt && { expires_at }) },
          )
          return readKey(client, principal.organizationId, keyId)
        })
        return reply
          .code(201)
          .send({ key, api_key: credentials.apiKey, api_secret: credentials.apiSecret })
      },
    )

    app.delete(
      '/dashboard/keys/:key_id',
      {
        config,
        schema: {
          tags,
          operationId: 'revokeApiKey',
          summary: 'Revoke an API key',
          description:
            'Requires an organization admin, or a project admin for a key of the project. Only an owner can revoke a key that an owner created, or that has the role `owner`. The key is refused everywhere within a second.',
          params: strictObject({ key_id: Id }),
          response: { 204: Type.Null() },
        },
      },
      async ({ principal, params: { key_id } }, reply) => {
        const { project_id } = await readKey(postgres, principal.organizationId, key_id)
        await requireKeyAdmin(principal, project_id)
        await inTransaction(postgres, async (client) => {
          const key = await readKey(client, principal.organizationId, key_id, 'FOR UPDATE')
          await requireRevocable(client, principal, key)
          await revokeKey(client, principal, key)
        })
        return reply.code(204).send(null)
      },
    )

    /** Throws 403 for a visible key that the caller may not revoke, and 404 for an invisible one. */
    async function requireKeyAdmin(principal: Principal, projectId: string | null): Promise<void> {
      if (projectId === null) {
        if (plainMemberId(principal) !== null) throw notFound.key()
        return
      }
      const object = { projectId, missing: notFound.key }
      await projectOfObject(postgres, principal, 'administration', object, 'write')
    }
  }

/** Throws 403 for a key of an owner, which only owners can revoke. */
async function requireRevocable(
  client: Queryable,
  { caller }: Principal,
  { role, created_by_member_id }: Key,
): Promise<void> {
  if (caller.kind === 'member' && caller.role === 'owner') return
  const { rowCount } = await client.query(
    "SELECT FROM members WHERE member_id = $1 AND role = 'owner'",
    [created_by_member_id],
  )
  if (role === 'owner' || rowCount !== 0)
    throw forbidden('Only an owner can revoke a key of an owner. Ask an owner to revoke it.')
}

/** Returns when a new key expires. Throws 400 for a time in the past. */
function readExpiry(given: string | null | undefined): Date | undefined {
  if (!given) return undefined
  const expiresAt = new Date(given)
  if (!(expiresAt.getTime() > Date.now()))
    throw invalidParameter('expires_at', 'must be in the future')
  return expiresAt
}

export async function revokeKey(
  client: Queryable,
  principal: Principal,
  { key_id, name, project_id }: Pick<Key, 'key_id' | 'name' | 'project_id'>,
): Promise<void> {
  await client.query('UPDATE api_keys SET revoked_at = now() WHERE key_id = $1', [key_id])
  await audit(client, principal, 'key.revoke', { kind: 'key', id: key_id }, { name, project_id })
}

/** $1 is the organization. */
export const selectKeys = `
  SELECT key_id, name, key_prefix, CASE WHEN project_id IS NULL THEN 'organization' ELSE 'project' END AS scope, project_id,
    mode, role, created_at, created_by, created_by_member_id, last_used_at, expires_at
  FROM api_keys WHERE organization_id = $1 AND revoked_at IS NULL`

async function readKey(
  client: Queryable,
  organizationId: string,
  keyId: string,
  lock: '' | 'FOR UPDATE' = '',
): Promise<Key> {
  const [key] = await readRecords<Key>(client, `${selectKeys} AND key_id = $2 ${lock}`, [
    organizationId,
    keyId,
  ])
  if (!key) throw notFound.key()
  return key
}

async function emailOf(client: Queryable, principal: Principal): Promise<string> {
  const { rows } = await client.query<{ email: string }>(
    'SELECT email FROM members WHERE member_id = $1',
    [callerId(principal)],
  )
  // The session cache can outlive the member for a moment.
  if (!rows[0]) throw unauthorized.session()
  return rows[0].email
}
