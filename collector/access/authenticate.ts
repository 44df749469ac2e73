import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { unauthorized } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Principal } from './principal.ts'

interface KeyRow {
  key_id: string
  organization_id: string
  project_id: string | null
  mode: 'live' | 'test'
  secret_sha256: Buffer
  secret_required: boolean
}

/** What keys and secrets are kept as: both are random, so a fast hash without salt gives nothing away. */
export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** How long an answer of PostgreSQL serves: a revoked key is refused everywhere within this time. */
const keyCacheMs = 1_000
const cachedMost = 10_000

/**
 * Makes the check of the headers X-Api-Key and X-Api-Secret (spec: Authentication). The check throws 401 "Invalid
 * API key", "Invalid API secret" or "API secret is required".
 */
export function createAuthenticate(postgres: Postgres): (request: FastifyRequest) => Promise<Principal> {
  const cache = new Map<string, { readAt: number; key: Promise<KeyRow | undefined> }>()

  const keyOf = (apiKey: string): Promise<KeyRow | undefined> => {
    const hash = sha256(apiKey)
    const cacheKey = hash.toString('base64')
    const cached = cache.get(cacheKey)
    if (cached && Date.now() - cached.readAt < keyCacheMs) return cached.key
    if (cache.size >= cachedMost) cache.clear()
    const key = readKey(postgres, hash)
    cache.set(cacheKey, { readAt: Date.now(), key })
    key.catch(() => cache.delete(cacheKey))
    return key
  }

  return async (request) => {
    const apiKey = headerOf(request, 'x-api-key')
    if (!apiKey) throw unauthorized.key('Send an API key in the X-Api-Key header.')
    const key = await keyOf(apiKey)
    if (!key) throw unauthorized.key()
    const secret = headerOf(request, 'x-api-secret')
    if (secret) {
      if (!timingSafeEqual(sha256(secret), key.secret_sha256)) throw unauthorized.secret()
    } else if (key.secret_required) throw unauthorized.secretRequired()
    return {
      organizationId: key.organization_id,
      projectId: key.project_id,
      keyId: key.key_id,
      mode: key.mode,
    }
  }
}

async function readKey(postgres: Postgres, hash: Buffer): Promise<KeyRow | undefined> {
  const { rows } = await postgres.query<KeyRow>(
    `SELECT key_id, organization_id, project_id, mode, secret_sha256, secret_required
     FROM api_keys JOIN organizations USING (organization_id)
     WHERE key_sha256 = $1 AND revoked_at IS NULL`,
    [hash],
  )
  return rows[0]
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
