import type { Access } from '../api/access/access.ts'
import { type ProjectNeed, projectFor } from '../api/access/permissions.ts'
import type { Principal } from '../api/access/principal.ts'
import { access } from '../api/access/recordAccess.ts'
import { accessDenied, invalidParameter } from '../api/http/errors.ts'
import { readUuid } from '../events/query/scopeQuery.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

/** What is the same for everybody: the schema of definitions, the templates. */
export const catalogAccess = { ...access, projectKeys: 'as organization' } as const satisfies Access

/** Whose audiences a request is about. Every statement of the repository is bound to it. */
export interface AudienceScope {
  readonly organizationId: string
  /** Null: of every project of the organization. */
  readonly projectId: string | null
}

/** The parts of a request that may name its project. */
interface ProjectRequest {
  readonly principal: Principal
  readonly query: unknown
  readonly body?: unknown
}

/**
 * The project that a request names, by X-Project-Id, ?project_id= or the body's project_id. Throws 400 when two of them
 * differ or it is missing, 403 "access denied" when it is another than the key's, 404 "project not found" for one that
 * the caller may not see, and 403 "forbidden" for who may not change what is in it, or see who its people are.
 */
export async function projectOf(
  postgres: Postgres,
  request: ProjectRequest,
  needs: ProjectNeed,
): Promise<string> {
  const asked = askedProject(request)
  if (asked === undefined) {
    throw invalidParameter(
      'project_id',
      'is missing: name the project by X-Project-Id or ?project_id=',
    )
  }
  return requireProject(postgres, request.principal, asked, needs)
}

/** Throws for a project as projectOf does. */
export async function requireProject(
  postgres: Postgres,
  principal: Principal,
  asked: string,
  needs: ProjectNeed,
): Promise<string> {
  if (principal.projectId !== null && asked !== principal.projectId) throw accessDenied()
  return (await projectFor(postgres, principal, asked, needs)).projectId
}

/**
 * Among which audiences one is looked for by its id. A key of one project has to name it (spec: Project key); without
 * one, those of all projects that are looked at are the organization's.
 */
export async function scopeOf(postgres: Postgres, request: ProjectRequest): Promise<AudienceScope> {
  const { principal } = request
  const { organizationId, caller } = principal
  const isPlainMember = caller.kind === 'member' && caller.role === 'member'
  if (askedProject(request) === undefined && principal.projectId === null && !isPlainMember) {
    return { organizationId, projectId: null }
  }
  return { organizationId, projectId: await projectOf(postgres, request, 'read') }
}

function askedProject({ query, body }: Pick<ProjectRequest, 'query' | 'body'>): string | undefined {
  const named = [
    readUuid('project_id', textOf(query)),
    readUuid('project_id', textOf(body)),
  ].filter((id) => id !== undefined)
  if (named.some((id) => id !== named[0])) {
    throw invalidParameter('project_id', 'is given twice and differs')
  }
  return named[0]
}

const textOf = (part: unknown): string | undefined =>
  (part as { project_id?: string } | null)?.project_id
