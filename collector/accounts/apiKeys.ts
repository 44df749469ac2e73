import { randomBytes, randomUUID } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { type Static, Type } from 'typebox'
import { apiKeyPrefix, sha256 } from '../access/authenticate.ts'
import { projectFor, requireOrganizationAdmin } from '../access/permissions.ts'
import { callerId, type Principal } from '../access/principal.ts'
import { ApiError, notFound } from '../errors.ts'
import { inTransaction, type Queryable } from '../postgres/transaction.ts'
import { exactly, Id, Nullable, Timestamp } from '../schemaParts.ts'
import type { TypeBox } from '../typeProvider.ts'
import { audit } from './audit.ts'
import { access, Name } from './declarations.ts'
import type { AccountsDeps } from './deps.ts'
import { isVisibleProject, plainMemberId } from './visible.ts'

/** A key as it is shown once, at creation; only hashes of it are kept (spec: API credentials). */
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

/** Stores a key of an organization, or of one project of it. Storing the same key again changes nothing. */
export async function storeApiKey(
  client: Queryable,
  owner: { organizationId: string; projectId: string | null },
  mode: 'live' | 'test',
  name: string,
  { apiKey, apiSecret }: ApiCredentials,
  made: { keyId: string; createdBy: string | null } = { keyId: randomUUID(), createdBy: null },
): Promise<void> {
  await client.query(
    `INSERT INTO api_keys (key_id, organization_id, project_id, mode, name, key_prefix, key_sha256,
       secret_sha256, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (key_sha256) DO NOTHING`,
    [
      ...[made.keyId, owner.organizationId, owner.projectId, mode, name],
      ...[apiKey.slice(0, shownChars), sha256(apiKey), sha256(apiSecret), made.createdBy],
    ],
  )
}

const Mode = Type.Union([Type.Literal('live'), Type.Literal('test')])
const Key = Type.Object({
  key_id: Id,
  name: Type.String(),
  key_prefix: Type.String({ description: 'All of the key that is ever shown again.' }),
  scope: Type.Union([Type.Literal('organization'), Type.Literal('project')]),
  project_id: Nullable(Id),
  mode: Mode,
  created_at: Timestamp,
  created_by: Nullable(Type.String({ description: 'The e-mail address of who made it.' })),
  last_used_at: Nullable(Timestamp),
})
type Key = Static<typeof Key>

const tags = ['Dashboard']

/** /dashboard/keys: the only place where keys are made (spec: Authentication, 2), and where they end. */
export const keyRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsync =>
  async (plain) => {
    const app = plain.withTypeProvider<TypeBox>()
    const config = { access: access.session }

    app.get(
      '/dashboard/keys',
      {
        config,
        schema: {
          tags,
          summary: 'The API keys, without those revoked',
          description: 'A plain member gets those of the projects they belong to.',
          querystring: exactly({ project_id: Type.Optional(Id) }),
          response: { 200: Type.Object({ keys: Type.Array(Key) }) },
        },
      },
      async ({ principal, query: { project_id } }) => {
        const project = project_id && (await projectFor(postgres, principal, project_id, 'read'))
        const { rows } = await postgres.query<KeyRow>(
          `${selectKeys} AND ${isVisibleProject('project_id', '$2', '$3')} ORDER BY created_at DESC, key_id`,
          [principal.organizationId, project ? project.projectId : null, plainMemberId(principal)],
        )
        return { keys: rows.map(toKey) }
      },
    )

    app.post(
      '/dashboard/keys',
      {
        config,
        schema: {
          tags,
          summary: 'Make an API key',
          description:
            'Of one project, also by its admins, or of the whole organization. The secret is shown in this answer and never again.',
          body: exactly({
            name: Name,
            mode: Mode,
            project_id: Type.Optional(Nullable(Id)),
          }),
          response: { 201: Type.Object({ key: Key, api_key: Type.String(), api_secret: Type.String() }) },
        },
      },
      async ({ principal, body: { name, mode, project_id } }, reply) => {
        if (!project_id) requireOrganizationAdmin(principal)
        const project = project_id ? await projectFor(postgres, principal, project_id, 'write') : null
        const projectId = project?.projectId ?? null
        const credentials = newApiCredentials(mode)
        const keyId = randomUUID()
        const key = await inTransaction(postgres, async (client) => {
          const owner = { organizationId: principal.organizationId, projectId }
          const createdBy = await emailOf(client, principal)
          await storeApiKey(client, owner, mode, name, credentials, { keyId, createdBy })
          await audit(
            client,
            principal,
            'key.create',
            { kind: 'key', id: keyId },
            { name, mode, project_id: projectId },
          )
          return readKey(client, principal.organizationId, keyId)
        })
        return reply
          .code(201)
          .header('cache-control', 'no-store')
          .send({ key, api_key: credentials.apiKey, api_secret: credentials.apiSecret })
      },
    )

    app.delete(
      '/dashboard/keys/:key_id',
      {
        config,
        schema: {
          tags,
          summary: 'Revoke an API key',
          description: 'It serves nowhere any more within a second.',
          params: exactly({ key_id: Id }),
          response: { 204: Type.Null() },
        },
      },
      async ({ principal, params: { key_id } }, reply) => {
        const { project_id } = await readKey(postgres, principal.organizationId, key_id)
        await requireKeyAdmin(principal, project_id)
        await inTransaction(postgres, async (client) => {
          const { name } = await readKey(client, principal.organizationId, key_id, 'FOR UPDATE')
          await client.query('UPDATE api_keys SET revoked_at = now() WHERE key_id = $1', [key_id])
          await audit(client, principal, 'key.revoke', { kind: 'key', id: key_id }, { name, project_id })
        })
        return reply.code(204).send(null)
      },
    )

    /** Throws 403 for a key that the caller may see and not revoke, and 404 for one that is not theirs to see. */
    async function requireKeyAdmin(principal: Principal, projectId: string | null): Promise<void> {
      if (projectId === null) {
        if (plainMemberId(principal) !== null) throw notFound.key()
        return
      }
      await projectFor(postgres, principal, projectId, 'write').catch((error) => {
        throw error instanceof ApiError && error.status === 404 ? notFound.key() : error
      })
    }
  }

const selectKeys = `
  SELECT key_id, name, key_prefix, project_id, mode, created_at, created_by, last_used_at
  FROM api_keys WHERE organization_id = $1 AND revoked_at IS NULL`

interface KeyRow extends Omit<Key, 'scope' | 'created_at' | 'last_used_at'> {
  created_at: Date
  last_used_at: Date | null
}

async function readKey(
  client: Queryable,
  organizationId: string,
  keyId: string,
  lock: '' | 'FOR UPDATE' = '',
): Promise<Key> {
  const { rows } = await client.query<KeyRow>(`${selectKeys} AND key_id = $2 ${lock}`, [
    organizationId,
    keyId,
  ])
  if (!rows[0]) throw notFound.key()
  return toKey(rows[0])
}

const toKey = (row: KeyRow): Key => ({
  key_id: row.key_id,
  name: row.name,
  key_prefix: row.key_prefix,
  scope: row.project_id === null ? 'organization' : 'project',
  project_id: row.project_id,
  mode: row.mode,
  created_at: row.created_at.toISOString(),
  created_by: row.created_by,
  last_used_at: row.last_used_at?.toISOString() ?? null,
})

async function emailOf(client: Queryable, principal: Principal): Promise<string | null> {
  const { rows } = await client.query<{ email: string }>('SELECT email FROM members WHERE member_id = $1', [
    callerId(principal),
  ])
  return rows[0]?.email ?? null
}
