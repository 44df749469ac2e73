import { isUuid } from '../../../schemas/uuid.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import { invalidParameter, notFound, pixelInactive } from '../http/errors.ts'
import { identityIsForAdmins } from './permissions.ts'
import type { Principal } from './principal.ts'
import { plainMemberId } from './visibility.ts'

/** The scope parameters of a request, well-formed but not yet known to be the caller's. */
export interface RequestedScope {
  organizationId?: string | undefined
  projectId?: string | undefined
  pixelId?: string | undefined
  campaignId?: string | undefined
}

/** The rows a read may touch: part of every query plan. */
export interface Scope {
  organizationId: string
  projectId: string | null
  pixelId: string | null
  campaignId: string | null
  /** Where projectId is null: the only projects there are. Absent while nobody has asked. */
  projectIds?: readonly string[]
}

/** What is to be read of events: what they say themselves, or who their visitors are too. */
export type ReadKind = 'events' | 'identity'

/**
 * Makes the one decision about what of the principal's events a request may see (spec: Project key). It throws 404
 * "organization not found", "project not found", "pixel not found" or "campaign not found" for what is not the
 * principal's, and 403 "pixel inactive". A plain member reads one project that they belong to, and of its visitors who
 * they are only as its admin: 400 and 403. A share link reads its own project or pixel, and nobody's identity.
 */
export function createScopeOf(
  postgres: Postgres,
): (principal: Principal, asked: RequestedScope, kind?: ReadKind) => Promise<Scope> {
  const projectIs = ttlCache((key) => isProject(postgres, key))
  const pixelIs = ttlCache((key) => readPixel(postgres, key))
  const campaignIs = ttlCache((key) => readCampaign(postgres, key))
  const roleIn = ttlCache((key) => readProjectRole(postgres, key))

  return async (principal, asked, kind = 'events') => {
    if (asked.organizationId && asked.organizationId !== principal.organizationId)
      throw notFound.organization()
    const { caller } = principal
    const sharedPixelId = caller.kind === 'share' ? caller.pixelId : null
    if (caller.kind === 'share' && kind === 'identity') throw identityIsForAdmins()
    if (sharedPixelId && asked.pixelId && asked.pixelId !== sharedPixelId) throw notFound.pixel()
    const pixelId = sharedPixelId ?? asked.pixelId
    const own = { organizationId: principal.organizationId, projectId: principal.projectId }
    if (asked.projectId) {
      const isOwn = await projectIs(JSON.stringify({ ...own, asked: asked.projectId }))
      if (!isOwn) throw notFound.project()
    }
    const pixel = pixelId ? await pixelIs(JSON.stringify({ ...own, asked: pixelId })) : null
    if (pixel === undefined || (pixel && asked.projectId && pixel.project_id !== asked.projectId)) {
      throw notFound.pixel()
    }
    const campaign = asked.campaignId
      ? await campaignIs(JSON.stringify({ ...own, asked: asked.campaignId }))
      : null
    const isOfOther = asked.projectId && campaign?.project_id !== asked.projectId
    if (campaign === undefined || (campaign && isOfOther)) throw notFound.campaign()
    // The project leads the primary key, so it is named even where the pixel or the campaign alone would do.
    const projectId =
      principal.projectId ?? asked.projectId ?? pixel?.project_id ?? campaign?.project_id ?? null
    const memberId = plainMemberId(principal)
    if (memberId !== null) {
      if (projectId === null)
        throw invalidParameter('project_id', 'is missing: you read one project at a time')
      const role = await roleIn(JSON.stringify({ memberId, projectId } satisfies Membership))
      if (!role)
        throw asked.projectId ? notFound.project() : pixel ? notFound.pixel() : notFound.campaign()
      if (kind === 'identity' && role !== 'admin') throw identityIsForAdmins()
    }
    if (pixel && !pixel.active) throw pixelInactive()

    const campaignId = asked.campaignId?.toLowerCase() ?? null
    return {
      organizationId: principal.organizationId,
      projectId,
      pixelId: pixelId ?? null,
      campaignId,
    }
  }
}

/** What is looked for, and by whom; also what the answer is remembered by. */
interface Lookup {
  organizationId: string
  /** The only project that the caller may see; null for all of the organization's. */
  projectId: string | null
  /** A project, a pixel or a campaign. */
  asked: string
}

interface Membership {
  memberId: string
  projectId: string
}

async function readProjectRole(
  postgres: Postgres,
  key: string,
): Promise<'admin' | 'member' | undefined> {
  const { memberId, projectId } = JSON.parse(key) as Membership
  const { rows } = await postgres.query<{ role: 'admin' | 'member' }>(
    'SELECT role FROM project_members WHERE project_id = $1 AND member_id = $2',
    [projectId, memberId],
  )
  return rows[0]?.role
}

async function isProject(postgres: Postgres, key: string): Promise<boolean> {
  const { organizationId, projectId, asked } = JSON.parse(key) as Lookup
  const { rowCount } = await postgres.query(
    `SELECT 1 FROM projects
     WHERE project_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [asked, organizationId, projectId],
  )
  return rowCount !== 0
}

async function readPixel(
  postgres: Postgres,
  key: string,
): Promise<{ active: boolean; project_id: string } | undefined> {
  const { organizationId, projectId, asked } = JSON.parse(key) as Lookup
  const { rows } = await postgres.query<{ active: boolean; project_id: string }>(
    `SELECT active, project_id FROM pixels JOIN projects USING (project_id)
     WHERE pixel_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [asked, organizationId, projectId],
  )
  return rows[0]
}

async function readCampaign(
  postgres: Postgres,
  key: string,
): Promise<{ project_id: string } | undefined> {
  const { organizationId, projectId, asked } = JSON.parse(key) as Lookup
  if (!isUuid(asked)) return undefined
  const { rows } = await postgres.query<{ project_id: string }>(
    `SELECT project_id FROM campaigns JOIN projects USING (project_id)
     WHERE campaign_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [asked, organizationId, projectId],
  )
  return rows[0]
}
