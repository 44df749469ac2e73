import { randomBytes, randomUUID } from 'node:crypto'
import { audit } from '../../api/access/audit.ts'
import { sha256 } from '../../api/access/authenticate.ts'
import { lockProject } from '../../api/access/locks.ts'
import { requireCurrentRole } from '../../api/access/permissions.ts'
import { callerId, type Principal } from '../../api/access/principal.ts'
import { shareSecretPrefix } from '../../api/access/shareLinks.ts'
import { conflict, invalidParameter, unauthorized } from '../../api/http/errors.ts'
import { NoSecretKeyError, type SecretBox } from '../../platform/outbound/secretBox.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Most share links of a project, expired ones included. */
const sharesMax = 100

/** A share link. Its secret is kept as a hash, and sealed for its admins. */
export interface Share {
  share_id: string
  name: string
  project_id: string
  project_name: string
  /** Null, like the name: all pixels of the project. */
  pixel_id: string | null
  pixel_name: string | null
  created_at: string
  created_by: string | null
  expires_at: string
  last_used_at: string | null
  /** Filters that all its figures meet, and the name of the segment that they come from; null: none. */
  filter: string | null
  segment_name: string | null
  has_goals: boolean
  has_password: boolean
  embed_origins: string[]
  sealed_secret: string | null
}

const selectShares = `
  SELECT share_id, share_links.name, share_links.project_id, projects.name AS project_name, share_links.pixel_id,
    pixels.name AS pixel_name, share_links.created_at, created_by, expires_at, last_used_at,
    filter, segment_name, has_goals, password_hash IS NOT NULL AS has_password, embed_origins, sealed_secret
  FROM share_links JOIN projects USING (project_id) LEFT JOIN pixels ON pixels.pixel_id = share_links.pixel_id`

/** Reads the share links of a project, newest first. */
export const listShares = (client: Queryable, projectId: string): Promise<Share[]> =>
  readRecords<Share>(
    client,
    `${selectShares} WHERE share_links.project_id = $1 ORDER BY share_links.created_at DESC, share_id`,
    [projectId],
  )

export async function readShare(
  client: Queryable,
  organizationId: string,
  shareId: string,
): Promise<Share | undefined> {
  const [share] = await readRecords<Share>(
    client,
    `${selectShares} WHERE organization_id = $1 AND share_id = $2`,
    [organizationId, shareId],
  )
  return share
}

interface NewShare {
  projectId: string
  pixelId: string | null
  name: string
  expiresAt: Date
  segment: { name: string; filter: string } | null
  hasGoals: boolean
  /** As argon2 has it; null: no password. */
  passwordHash: string | null
  embedOrigins: readonly string[]
}

/** Creates a share link, in a transaction. Resolves with it and its secret. Throws 409 where there are too many. */
export async function createShare(
  client: Queryable,
  principal: Principal,
  secretBox: SecretBox,
  { projectId, pixelId, name, expiresAt, segment, hasGoals, passwordHash, embedOrigins }: NewShare,
): Promise<{ share: Share; secret: string }> {
  await requireCurrentRole(client, principal)
  await lockProject(client, projectId)
  const { rowCount } = await client.query('SELECT FROM share_links WHERE project_id = $1', [
    projectId,
  ])
  if (rowCount! >= sharesMax)
    throw conflict('count_limit_reached', `There are ${sharesMax} share links. Revoke one first.`)
  const id = randomUUID()
  const secret = shareSecretPrefix + randomBytes(32).toString('base64url')
  await client.query(
    `INSERT INTO share_links (share_id, project_id, pixel_id, name, secret_sha256, expires_at, sealed_secret, filter,
       segment_name, has_goals, password_hash, embed_origins, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce(
       (SELECT name FROM api_keys WHERE key_id = $13), (SELECT email FROM members WHERE member_id = $13)))`,
    [
      id,
      projectId,
      pixelId,
      name,
      sha256(secret),
      expiresAt,
      sealed(secretBox, id, secret),
      segment?.filter ?? null,
      segment?.name ?? null,
      hasGoals,
      passwordHash,
      embedOrigins,
      callerId(principal),
    ],
  )
  const details = {
    name,
    project_id: projectId,
    pixel_id: pixelId,
    expires_at: expiresAt.toISOString(),
    ...(segment && { segment: segment.name }),
    ...(hasGoals && { goals: true }),
    ...(passwordHash && { password: true }),
    ...(embedOrigins.length > 0 && { embed_origins: embedOrigins }),
  }
  await audit(client, principal, 'share_link.create', { kind: 'share_link', id }, details)
  return { share: (await readShare(client, principal.organizationId, id))!, secret }
}

const purposeOf = (shareId: string): string => `share_link:${shareId}`

/** Null where the operator has set no key: such a link cannot be copied again. */
function sealed(secretBox: SecretBox, shareId: string, secret: string): string | null {
  try {
    return secretBox.seal(secret, purposeOf(shareId))
  } catch (error) {
    if (error instanceof NoSecretKeyError) return null
    throw error
  }
}

/** The secret of a share link; null where it was not sealed. */
export const secretOf = (
  secretBox: SecretBox,
  { share_id, sealed_secret }: Share,
): string | null =>
  sealed_secret === null ? null : secretBox.open(sealed_secret, purposeOf(share_id))

/**
 * The hash of the password of the link with this secret. Throws 401 "invalid_share_link" for one that does not exist or has
 * expired, and 400 for one that has no password.
 */
export async function readPasswordHash(client: Queryable, secret: string): Promise<string> {
  const { rows } = await client.query<{ password_hash: string | null }>(
    'SELECT password_hash FROM share_links WHERE secret_sha256 = $1 AND expires_at > now()',
    [sha256(secret)],
  )
  if (!rows[0]) throw unauthorized.share()
  const { password_hash: hash } = rows[0]
  if (hash === null) throw invalidParameter('password', 'This link has no password. Omit it.')
  return hash
}

/** Ends a share link for good, in a transaction. */
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
