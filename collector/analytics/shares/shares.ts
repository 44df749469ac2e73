import { randomBytes } from 'node:crypto'
import { audit } from '../../api/access/audit.ts'
import { sha256 } from '../../api/access/authenticate.ts'
import { requireCurrentRole } from '../../api/access/permissions.ts'
import { callerId, type Principal } from '../../api/access/principal.ts'
import { shareSecretPrefix } from '../../api/access/shareLinks.ts'
import { conflict } from '../../api/http/errors.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Most share links of a project, expired ones included. */
const sharesMax = 100

/** A share link without its secret, of which only a hash is stored. */
export interface Share {
  share_id: string
  name: string
  project_id: string
  project_name: string
  /** Null, like the name: all pixels of the project. */
  pixel_id: string | null
  pixel_name: string | null
  created_at: Date
  created_by: string | null
  expires_at: Date
  last_used_at: Date | null
}

const selectShares = `
  SELECT share_id, share_links.name, share_links.project_id, projects.name AS project_name, share_links.pixel_id,
    pixels.name AS pixel_name, share_links.created_at, created_by, expires_at, last_used_at
  FROM share_links JOIN projects USING (project_id) LEFT JOIN pixels ON pixels.pixel_id = share_links.pixel_id`

/** Reads the share links of a project, newest first. */
export async function listShares(client: Queryable, projectId: string): Promise<Share[]> {
  const { rows } = await client.query<Share>(
    `${selectShares} WHERE share_links.project_id = $1 ORDER BY share_links.created_at DESC, share_id`,
    [projectId],
  )
  return rows
}

/** Reads a share link of an organization. */
export async function readShare(
  client: Queryable,
  organizationId: string,
  shareId: string,
): Promise<Share | undefined> {
  const { rows } = await client.query<Share>(
    `${selectShares} WHERE organization_id = $1 AND share_id = $2`,
    [organizationId, shareId],
  )
  return rows[0]
}

/** Input for a share link. */
interface NewShare {
  projectId: string
  pixelId: string | null
  name: string
  expiresAt: Date
}

/**
 * Creates a share link in a transaction, and returns it with its secret. Throws 409 if there are too many.
 */
export async function createShare(
  client: Queryable,
  principal: Principal,
  { projectId, pixelId, name, expiresAt }: NewShare,
): Promise<{ share: Share; secret: string }> {
  await requireCurrentRole(client, principal)
  await client.query('SELECT FROM projects WHERE project_id = $1 FOR NO KEY UPDATE', [projectId])
  const { rowCount } = await client.query('SELECT FROM share_links WHERE project_id = $1', [
    projectId,
  ])
  if (rowCount! >= sharesMax)
    throw conflict(
      'count_limit_reached',
      `The project has ${sharesMax} share links. Revoke one first.`,
    )
  const secret = shareSecretPrefix + randomBytes(32).toString('base64url')
  const { rows } = await client.query<{ share_id: string }>(
    `INSERT INTO share_links (project_id, pixel_id, name, secret_sha256, expires_at, created_by)
     VALUES ($1, $2, $3, $4, $5, coalesce(
       (SELECT name FROM api_keys WHERE key_id = $6), (SELECT email FROM members WHERE member_id = $6)))
     RETURNING share_id`,
    [projectId, pixelId, name, sha256(secret), expiresAt, callerId(principal)],
  )
  const { share_id: id } = rows[0]!
  const details = {
    name,
    project_id: projectId,
    pixel_id: pixelId,
    expires_at: expiresAt.toISOString(),
  }
  await audit(client, principal, 'share_link.create', { kind: 'share_link', id }, details)
  return { share: (await readShare(client, principal.organizationId, id))!, secret }
}

/** Revokes a share link, in a transaction. */
export async function revokeShare(
  client: Queryable,
  principal: Principal,
  { share_id: id, name, project_id }: Share,
): Promise<void> {
  const { rowCount } = await client.query('DELETE FROM share_links WHERE share_id = $1', [id])
  if (rowCount === 0) return
  await audit(
    client,
    principal,
    'share_link.revoke',
    { kind: 'share_link', id },
    { name, project_id },
  )
}
