import type { FastifyRequest } from 'fastify'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { forbidden, unauthorized } from '../http/errors.ts'
import type { Principal } from './principal.ts'

/** Prefix of the secret of every share link. */
export const shareSecretPrefix = 'ffs_'

/**
 * The routes that a share link opens: figures without identity. All other routes with authentication refuse
 * it.
 */
const sharedRoutes: ReadonlySet<string> = new Set([
  'GET /api/v1/analytics/shares/:share_id',
  'GET /api/v1/analytics/overview',
  'GET /api/v1/analytics/timeseries',
  'GET /api/v1/analytics/breakdown',
  'GET /api/v1/analytics/live',
])

/** Throws 403 "forbidden" for a route that share links cannot open. */
export function requireSharedRoute({ method, routeOptions }: FastifyRequest): void {
  if (!sharedRoutes.has(`${method} ${routeOptions.url}`))
    throw forbidden('Share links can only read the shared figures.')
}

/** A cached share link. Every request checks its expiry. */
interface ShareLink {
  share_id: string
  organization_id: string
  project_id: string
  pixel_id: string | null
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
     SELECT share_id, organization_id, project_id, pixel_id, expires_at
     FROM share_links JOIN projects USING (project_id) WHERE secret_sha256 = $1`,
    [hash],
  )
  return rows[0]
}

/**
 * Returns the principal of a share link. Throws 401 "invalid_share_link" for an unknown, revoked or expired
 * link.
 */
export function principalOfShare(link: ShareLink | undefined): Principal {
  if (!link || link.expires_at.getTime() <= Date.now()) throw unauthorized.share()
  return {
    organizationId: link.organization_id,
    projectId: link.project_id,
    mode: 'live',
    caller: { kind: 'share', shareId: link.share_id, pixelId: link.pixel_id },
  }
}
