import { notFound, pixelInactive } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Principal } from './principal.ts'

/** The scope parameters of a request, well-formed but not yet known to be the caller's. */
export interface AskedScope {
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
}

/**
 * Makes the one decision about what of the principal's events a request may see (spec: Project-scoped key
 * behavior). It throws 404 "project not found", "pixel not found" or "campaign not found" for what is not the
 * principal's, and 403 "pixel inactive". A test key sees the sample organization, whatever of its own it names.
 */
export function createScopeOf(
  postgres: Postgres,
  sampleOrganizationId: string,
): (principal: Principal, asked: AskedScope) => Promise<Scope> {
  return async (principal, asked) => {
    if (asked.projectId) await requireProject(postgres, principal, asked.projectId)
    const pixelProjectId = asked.pixelId
      ? await requirePixel(postgres, principal, asked.pixelId, asked.projectId)
      : null
    // No DSP campaigns exist before their issue: none is anybody's.
    if (asked.campaignId) throw notFound.campaign()
    if (principal.mode === 'test') {
      return { organizationId: sampleOrganizationId, projectId: null, pixelId: null, campaignId: null }
    }
    return {
      organizationId: principal.organizationId,
      // The project leads the primary key, so it is named even where the pixel alone would do.
      projectId: principal.projectId ?? asked.projectId ?? pixelProjectId,
      pixelId: asked.pixelId ?? null,
      campaignId: null,
    }
  }
}

async function requireProject(postgres: Postgres, principal: Principal, projectId: string): Promise<void> {
  const { rowCount } = await postgres.query(
    `SELECT 1 FROM projects
     WHERE project_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)`,
    [projectId, principal.organizationId, principal.projectId],
  )
  if (rowCount === 0) throw notFound.project()
}

async function requirePixel(
  postgres: Postgres,
  principal: Principal,
  pixelId: string,
  projectId: string | undefined,
): Promise<string> {
  const { rows } = await postgres.query<{ active: boolean; project_id: string }>(
    `SELECT active, project_id FROM pixels JOIN projects USING (project_id)
     WHERE pixel_id = $1 AND organization_id = $2 AND ($3::uuid IS NULL OR project_id = $3)
       AND ($4::uuid IS NULL OR project_id = $4)`,
    [pixelId, principal.organizationId, principal.projectId, projectId ?? null],
  )
  if (!rows[0]) throw notFound.pixel()
  if (!rows[0].active) throw pixelInactive()
  return rows[0].project_id
}
