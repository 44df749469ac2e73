import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import { unauthorized } from '../http/errors.ts'
import type { KeyRole, Principal, Role } from './principal.ts'
import type { Access } from './routeAccess.ts'
import { requireSameOrigin } from './sameOrigin.ts'
import { sessionOf } from './session.ts'
import {
  principalOfShare,
  readShareLink,
  shareSecretPrefix,
  splitShareCredentials,
} from './shareLinks.ts'
import type { Tokens } from './tokens.ts'

/** The hash of stored keys, secrets and sessions. They are random, so a fast one is safe. */
export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Returns the caller of a route that requires authentication. */
export type Authenticate = (
  request: FastifyRequest,
  access: Exclude<Access, { to: 'anyone' }>,
) => Promise<Principal>

/**
 * Creates the authentication of requests (spec: Authentication). It throws 401 "Invalid API key", "Invalid
 * API secret" or "API secret is required". For a share link it throws "invalid_share_link" or "share_password_required", and
 * "unauthenticated" if only a session is allowed.
 */
export function createAuthenticate(
  postgres: Postgres,
  tokens: Tokens,
  publicUrl: string,
): Authenticate {
  const keyNamed = ttlCache((hash) => readKey(postgres, Buffer.from(hash, 'base64')))
  const memberOfSession = ttlCache((key) => readMemberOfSession(postgres, JSON.parse(key)))
  const shareNamed = ttlCache((hash) => readShareLink(postgres, Buffer.from(hash, 'base64')))
  const memberNamed = ttlCache((memberId) => readMember(postgres, memberId))

  const byKey = async (
    apiKey: string,
    secret: string | undefined,
    sentIn: string,
  ): Promise<Principal> => {
    const key = await keyNamed(sha256(apiKey).toString('base64'))
    if (!key) throw unauthorized.key(`${sentIn} does not contain a valid API key of this service.`)
    if (key.expires_at && key.expires_at.getTime() <= Date.now()) {
      throw unauthorized.key(`This API key expired at ${key.expires_at.toISOString()}.`)
    }
    if (secret) {
      if (!key.secret_sha256 || !timingSafeEqual(sha256(secret), key.secret_sha256))
        throw unauthorized.secret()
    } else if (key.secret_required) throw unauthorized.secretRequired(sentIn)
    return {
      organizationId: key.organization_id,
      projectId: key.project_id,
      mode: key.mode,
      caller: { kind: 'key', keyId: key.key_id, role: key.role },
    }
  }

  const bySession = async (request: FastifyRequest): Promise<Principal | null> => {
    const session = sessionOf(request, publicUrl)
    if (!session) return null
    const organizationHeader = header(request, 'x-organization-id')
    if (organizationHeader !== undefined && !isUuid(organizationHeader)) return null
    const key: SessionKey = {
      hash: sha256(session).toString('base64'),
      organizationId: organizationHeader ?? null,
    }
    const member = await memberOfSession(JSON.stringify(key))
    if (!member) return null
    requireSameOrigin(request, publicUrl)
    return principalOf(member)
  }

  return async (request, access) => {
    if (access.to === 'session') {
      const principal = await bySession(request)
      if (!principal) throw unauthorized.session()
      return principal
    }
    const apiKey = header(request, 'x-api-key')
    const secret = header(request, 'x-api-secret')
    if (apiKey !== undefined) return byKey(apiKey, secret, 'X-Api-Key')

    const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (bearer?.startsWith(apiKeyPrefix)) {
      if (access.bearerKey) return byKey(bearer, secret, 'Authorization: Bearer')
      throw unauthorized.key('Send the API key in the X-Api-Key header.')
    }
    if (bearer?.startsWith(shareSecretPrefix))
      return principalOfShare(
        await shareNamed(sha256(splitShareCredentials(bearer).secret).toString('base64')),
        bearer,
      )
    if (bearer !== undefined) {
      const claims = await tokens.verify(bearer)
      const member = claims && (await memberNamed(claims.memberId))
      if (!member || claims.issuedAt < member.valid_from_seconds)
        throw unauthorized.key('The token in the Authorization header is invalid or has expired.')
      return principalOf(member)
    }
    const principal = access.members ? await bySession(request) : null
    if (!principal) throw unauthorized.key('Send an API key in the X-Api-Key header.')
    return principal
  }
}

/** Prefix of every API key; the mode of the key and `_` follow. */
export const apiKeyPrefix = 'ff_'

/** Whether a request names a test key, be it valid or not. */
export function hasTestKey({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'x-api-key': apiKey = headers.authorization?.replace(/^Bearer /i, '') } = headers
  return apiKey?.toString().startsWith(`${apiKeyPrefix}test_`) === true
}

interface KeyRow {
  key_id: string
  organization_id: string
  project_id: string | null
  mode: 'live' | 'test'
  role: KeyRole
  /** Null for old keys, which have no secret. */
  secret_sha256: Buffer | null
  secret_required: boolean
  expires_at: Date | null
}

async function readKey(postgres: Postgres, hash: Buffer): Promise<KeyRow | undefined> {
  const { rows } = await postgres.query<KeyRow>(
    `SELECT key_id, organization_id, project_id, mode, role, secret_sha256, secret_required, expires_at
     FROM api_keys JOIN organizations USING (organization_id)
     WHERE key_sha256 = $1 AND revoked_at IS NULL`,
    [hash],
  )
  return rows[0]
}

interface MemberRow {
  member_id: string
  organization_id: string
  role: Role
  by_provider?: boolean
}

interface SessionKey {
  /** SHA-256 of the session, base64. */
  hash: string
  /** The organization of the request; null: the user's last used one. */
  organizationId: string | null
}

async function readMemberOfSession(
  postgres: Postgres,
  { hash, organizationId }: SessionKey,
): Promise<MemberRow | undefined> {
  const { rows } = await postgres.query<MemberRow>(
    `WITH used AS (
       UPDATE sessions SET last_used_at = now()
       WHERE session_sha256 = $1 AND last_used_at < now() - interval '1 minute'
     )
     SELECT members.member_id, organization_id, role, sessions.member_id IS NOT NULL AS by_provider
     FROM sessions JOIN members ON members.member_id = sessions.member_id
       OR members.user_id = sessions.user_id AND takes_password(organization_id, members.member_id)
     WHERE session_sha256 = $1 AND expires_at > now() AND ($2::uuid IS NULL OR organization_id = $2)
     ORDER BY members.last_used_at DESC NULLS LAST, members.created_at, members.member_id LIMIT 1`,
    [Buffer.from(hash, 'base64'), organizationId],
  )
  return rows[0]
}

interface TokenMemberRow extends MemberRow {
  /** Tokens issued before this time are invalid. */
  valid_from_seconds: number
}

async function readMember(
  postgres: Postgres,
  memberId: string,
): Promise<TokenMemberRow | undefined> {
  const { rows } = await postgres.query<TokenMemberRow>(
    `SELECT member_id, organization_id, role,
       floor(extract(epoch FROM greatest(password_changed_at, signed_out_at)))::int AS valid_from_seconds
     FROM members JOIN users USING (user_id)
     WHERE member_id = $1 AND takes_password(organization_id, member_id)`,
    [memberId],
  )
  return rows[0]
}

const principalOf = ({ member_id, organization_id, role, by_provider }: MemberRow): Principal => ({
  organizationId: organization_id,
  projectId: null,
  mode: 'live',
  caller: {
    kind: 'member',
    memberId: member_id,
    role,
    ...(by_provider && { byProvider: true }),
  },
})

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return (Array.isArray(value) ? value[0] : value) || undefined
}
