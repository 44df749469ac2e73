import type { FastifyRequest } from 'fastify'
import { isUuid } from '../../../schemas/uuid.ts'
import { projectFor, projectOfObject } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { ApiError, invalidParameter, notFound } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/**
 * Returns the pixel that a request acts on, and its project. Throws the errors of projectFor for the named
 * project. Throws 401 if a project key names a pixel of another project of its organization, and 404 "pixel
 * not found" otherwise.
 */
export async function pixelFor(
  postgres: Postgres,
  principal: Principal,
  { pixel_id, project_id }: { pixel_id: string; project_id?: string },
  needs: 'read' | 'write',
): Promise<{ pixelId: string; projectId: string }> {
  const named =
    project_id &&
    (await projectFor(postgres, principal, 'administration', project_id, needs)).projectId
  const { rows } = await postgres.query<{ pixelId: string; projectId: string }>(
    `SELECT pixel_id AS "pixelId", project_id AS "projectId" FROM pixels JOIN projects USING (project_id)
     WHERE pixel_id = $1 AND organization_id = $2`,
    [pixel_id, principal.organizationId],
  )
  const pixel = rows[0]
  if (!pixel) throw notFound.pixel()
  const object = { projectId: pixel.projectId, missing: notFound.pixel }
  await projectOfObject(postgres, principal, 'administration', object, needs)
  if (named && pixel.projectId !== named) throw notFound.pixel()
  return pixel
}

/**
 * Creates a preValidation hook that checks the scope of a change before its body. So a key of another project gets 401,
 * and a member who may not change the pixel 403, whatever else is wrong in the body.
 */
export const requireScope =
  (postgres: Postgres) =>
  async ({ principal, body }: FastifyRequest): Promise<void> => {
    const { pixel_id, project_id } = (body ?? {}) as Record<string, unknown>
    const named = isUuid(project_id) ? { project_id } : {}
    try {
      if (isUuid(pixel_id)) await pixelFor(postgres, principal, { pixel_id, ...named }, 'write')
      else if (named.project_id)
        await projectFor(postgres, principal, 'administration', named.project_id, 'write')
    } catch (error) {
      // A missing pixel or project is a fault of the body.
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  }

/** Other values that browsers send in `Origin`, for schemes other than http and https. */
const originPattern = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/

/** Throws 400 for the first that no browser would send as the origin of a page. */
export function requireOrigins(origins: readonly string[]): void {
  for (const [index, origin] of origins.entries()) {
    const isWeb = /^https?:/i.test(origin)
    const isOrigin = isWeb
      ? URL.canParse(origin) && new URL(origin).origin === origin
      : originPattern.test(origin)
    if (!isOrigin) {
      throw invalidParameter(
        `allowed_origins[${index}]`,
        'must be an origin such as https://shop.example or http://127.0.0.1:8080',
      )
    }
  }
}
