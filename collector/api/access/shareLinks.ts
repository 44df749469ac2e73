import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { forbidden, unauthorized } from '../http/errors.ts'
import type { Principal } from './principal.ts'

export const shareSecretPrefix = 'ffs_'

/** The routes that a share link opens: figures without identity. */
const sharedRoutes: ReadonlySet<string> = new Set([
  'GET /api/v1/analytics/shares/:share_id',
  'GET /api/v1/analytics/overview',
  'GET /api/v1/analytics/timeseries',
  'GET /api/v1/analytics/breakdown',
  'GET /api/v1/analytics/live',
])

/** The route that only share links with goals open. */
const goalsRoute = 'GET /api/v1/analytics/conversions'

/** Throws 403 "forbidden" for a route that the share link does not open. */
export function requireSharedRoute(
  { method, routeOptions }: FastifyRequest,
  { caller }: Principal,
): void {
  const route = `${method} ${routeOptions.url}`
  const hasGoals = caller.kind === 'share' && caller.hasGoals
  if (!sharedRoutes.has(route) && !(route === goalsRoute && hasGoals))
    throw forbidden('Share links can only read the shared figures.')
}

/** Separates the secret of a share link from the proof of its password. */
const separator = '.'

/**
 * The credentials of a holder who knows the password of a share link. They need no storage. The
 * proof is keyed with the hash of the password, which never leaves the service. So they end with that password.
 */
export const unlockedSecret = (secret: string, passwordHash: string): string =>
  secret + separator + proofOf(secret, passwordHash).toString('base64url')

const proofOf = (secret: string, passwordHash: string): Buffer =>
  createHmac('sha256', passwordHash).update(secret).digest()

/** The secret in the credentials of a share link, and the proof of its password; null without one. */
export function splitShareCredentials(credentials: string): {
  secret: string
  proof: string | null
} {
  const [secret = '', proof = null] = credentials.split(separator, 2)
  return { secret, proof }
}

/** A cached share link. Every request checks its expiry. */
interface ShareLink {
  share_id: string
  organization_id: string
  project_id: string
  pixel_id: string | null
  filter: string | null
  has_goals: boolean
  password_hash: string | null
  expires_at: Date
}

/** Reads the share link of a secret (its SHA-256), and records when it was last opened, to the minute. */
export async function readShareLink(
  postgres: Postgres,
  hash: Buffer,
): Promise<ShareLink | undefined> {
  const { rows } = await postgres.query<ShareLink>(
    `WITH used AS (
       UPDATE share_links SET last_used_at = now()
       WHERE secret_sha256 = $1 AND expires_at > now()
         AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
     )
     SELECT share_id, organization_id, project_id, pixel_id, filter, has_goals, password_hash, expires_at
     FROM share_links JOIN projects USING (project_id) WHERE secret_sha256 = $1`,
    [hash],
  )
  return rows[0]
}

/**
 * Returns the principal of a share link. Throws 401 "invalid_share_link" for an unknown, revoked or expired
 * link, and 401 "share_password_required" without the proof of its password.
 */
export function principalOfShare(link: ShareLink | undefined, credentials: string): Principal {
  if (!link || link.expires_at.getTime() <= Date.now()) throw unauthorized.share()
  if (link.password_hash !== null && !hasProof(credentials, link.password_hash))
    throw unauthorized.sharePassword()
  return {
    organizationId: link.organization_id,
    projectId: link.project_id,
    mode: 'live',
    caller: {
      kind: 'share',
      shareId: link.share_id,
      pixelId: link.pixel_id,
      filter: link.filter,
      hasGoals: link.has_goals,
    },
  }
}

function hasProof(credentials: string, passwordHash: string): boolean {
  const { secret, proof } = splitShareCredentials(credentials)
  const proofBytes = Buffer.from(proof ?? '', 'base64url')
  const expected = proofOf(secret, passwordHash)
  return proofBytes.length === expected.length && timingSafeEqual(proofBytes, expected)
}

/** The origins whose pages may show a share link in a frame; none for a link that does not exist or has expired. */
export async function readEmbedOrigins(
  postgres: Postgres,
  shareId: string,
): Promise<readonly string[]> {
  if (!isUuid(shareId)) return []
  const { rows } = await postgres.query<{ embed_origins: string[] }>(
    'SELECT embed_origins FROM share_links WHERE share_id = $1 AND expires_at > now()',
    [shareId],
  )
  return rows[0]?.embed_origins ?? []
}
