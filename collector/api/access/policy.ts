/**
 * The access policy: the data of its organization that a caller may see and change. Every route calls it,
 * after authenticate.ts has identified the caller and guard.ts has admitted this kind of caller.
 *
 * | Caller | Projects | read | identity | write |
 * |-------------------------|-------------|--------------------------|--------------------|-----------------------|
 * | owner, admin | all | yes | yes | yes |
 * | member | their own | yes | as a project admin | as a project admin |
 * | key of the organization | all | yes | yes | guard.ts checks roles |
 * | key of a project | its own | yes | yes | guard.ts checks roles |
 * | share link | its own | events, without identity | no | no |
 */
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import {
  ApiError,
  accessDenied,
  forbidden,
  invalidParameter,
  notFound,
  pixelInactive,
  projectMismatch,
  unauthorized,
} from '../http/errors.ts'
import type { Principal, ProjectRole } from './principal.ts'
import { type ProjectRequest, requestedProject } from './requestedProject.ts'
import {
  isProject,
  projectsOfMember,
  readCampaign,
  readPixel,
  readProjectRole,
  readRoleInProject,
} from './scopeLookups.ts'
import { plainMemberId } from './visibility.ts'

/** The access that a request needs: to a project, to its visitors' identities, or to change it. */
export type Action = 'read' | 'identity' | 'write'

/** How each kind of resource refuses a project key that names another project (spec: Project key). */
const refusalOfOtherProject = {
  /** Events, and figures computed from them. */
  events: notFound.project,
  /** Lists, exports, integrations, campaigns, webhooks, statistics and usage. */
  records: projectMismatch,
  audiences: accessDenied,
  /** Projects, pixels, keys and members. */
  administration: unauthorized.otherProject,
}
export type Resource = keyof typeof refusalOfOtherProject

export interface ProjectGrant {
  readonly projectId: string
  readonly role: ProjectRole
}

/** Throws the contract's error for a project key that names another project: 401, 403 or 404. */
export function requireOwnProject(
  { projectId }: Principal,
  resource: Resource,
  requestedId: string | undefined,
): void {
  if (projectId !== null && requestedId !== undefined && requestedId !== projectId)
    throw refusalOfOtherProject[resource]()
}

/** Throws 403 for a project key that filters by campaign or audience (spec: Project key). */
export function requireFiltersAllowed(
  { projectId }: Principal,
  filters: { campaign_id?: string | undefined; audience_id?: string | undefined },
): void {
  const isFiltered = filters.campaign_id !== undefined || filters.audience_id !== undefined
  if (projectId !== null && isFiltered) {
    throw forbidden(
      'The filters campaign_id and audience_id are not available to a project-scoped API key.',
    )
  }
}

/**
 * Returns the project of a request, by default the project of the key. Throws 400 without a project, the
 * errors of requireOwnProject, and 404 "project not found" for an inaccessible one. Throws 403 "forbidden" if
 * a member who is not project admin needs more than read access.
 */
export async function projectFor(
  postgres: Postgres,
  principal: Principal,
  resource: Resource,
  requestedId: string | undefined,
  action: Action,
): Promise<ProjectGrant> {
  const { organizationId, caller } = principal
  if (caller.kind === 'share') throw forbidden('Share links cannot administer anything.')
  const projectId = requestedId ?? principal.projectId
  if (!projectId) throw invalidParameter('project_id', 'is required')
  requireOwnProject(principal, resource, projectId)
  const memberId = plainMemberId(principal)
  const role = await readRoleInProject(postgres, { organizationId, projectId, memberId })
  if (role === null) throw notFound.project()
  requireAction(role, action)
  return { projectId, role }
}

/** Returns the id of the project whose administration a request is about. Throws as projectFor does. */
export const administeredProject = async (
  postgres: Postgres,
  principal: Principal,
  requestedId: string | undefined,
  action: Action,
): Promise<string> =>
  (await projectFor(postgres, principal, 'administration', requestedId, action)).projectId

/**
 * Returns the project of an object, as projectFor does. Throws `missing` instead of 404 "project not found", so that the
 * object of an inaccessible project is reported as missing.
 */
export async function projectOfObject(
  postgres: Postgres,
  principal: Principal,
  resource: Resource,
  object: { readonly projectId: string; readonly missing: () => ApiError },
  action: Action,
): Promise<ProjectGrant> {
  try {
    return await projectFor(postgres, principal, resource, object.projectId, action)
  } catch (error) {
    throw error instanceof ApiError && error.status === 404 ? object.missing() : error
  }
}

/** Throws 403 "forbidden" if a role in a project does not suffice. */
function requireAction(role: ProjectRole, action: Action): void {
  if (role === 'admin' || action === 'read') return
  throw action === 'identity'
    ? identityIsForAdmins()
    : forbidden('This requires the project admin role.')
}

const identityIsForAdmins = () => forbidden('Identity data requires the project admin role.')

/** The owners of the lists, exports, integrations and campaigns that a request may read. */
export interface RecordScope {
  readonly organizationId: string
  /** Null: all projects. */
  readonly projectIds: readonly string[] | null
}

export type RecordScopeOf = (
  principal: Principal,
  requestedId: string | undefined,
) => Promise<RecordScope>

/**
 * Creates the function that returns which records a request may read (spec: Project key on lists, on
 * campaigns). These are the records of the requested project, otherwise of the key's project, otherwise of
 * all accessible projects. It throws 403 "project_id does not match API key scope" and 404 "project not
 * found".
 */
export function createRecordScopeOf(postgres: Postgres): RecordScopeOf {
  return async (principal, requestedId) => {
    const { organizationId } = principal
    const memberId = plainMemberId(principal)
    const projectIds =
      requestedId !== undefined || principal.projectId !== null
        ? [(await projectFor(postgres, principal, 'records', requestedId, 'read')).projectId]
        : memberId !== null
          ? await projectsOfMember(postgres, memberId)
          : null
    return { organizationId, projectIds }
  }
}

/** The owners of the audiences that a request may read. Every statement binds these values. */
export interface AudienceScope {
  readonly organizationId: string
  /** Null: all projects of the organization. */
  readonly projectId: string | null
}

/**
 * Returns the project of the audiences of a request, from X-Project-Id, ?project_id= or the body's
 * project_id. Throws 400 if two of them differ or all are missing. Throws 403 "access denied" if it is not
 * the key's project, and 404 "project not found" for an inaccessible one. Throws 403 "forbidden" without the
 * right to change the audiences or to see identities.
 */
export async function audienceProjectOf(
  postgres: Postgres,
  request: ProjectRequest,
  action: Action,
): Promise<string> {
  const requestedId = requestedProject(request)
  if (requestedId === undefined) {
    throw invalidParameter(
      'project_id',
      'is required: send a project id as X-Project-Id or ?project_id=',
    )
  }
  return (await projectFor(postgres, request.principal, 'audiences', requestedId, action)).projectId
}

/**
 * Returns the scope in which an audience is looked up by id. A key of one project must name the project
 * (spec: Project key), and so must a plain member. Other callers may search all audiences of the
 * organization.
 */
export async function audienceScopeOf(
  postgres: Postgres,
  request: ProjectRequest,
): Promise<AudienceScope> {
  const { principal } = request
  const { organizationId } = principal
  const seesAll = principal.projectId === null && plainMemberId(principal) === null
  if (seesAll && requestedProject(request) === undefined) return { organizationId, projectId: null }
  return { organizationId, projectId: await audienceProjectOf(postgres, request, 'read') }
}

/** The scope parameters of a request: well-formed, but not yet checked for access. */
export interface RequestedScope {
  organizationId?: string | undefined
  projectId?: string | undefined
  pixelId?: string | undefined
  campaignId?: string | undefined
}

/** The rows that a read may return, as part of every query plan. */
export interface Scope {
  organizationId: string
  projectId: string | null
  pixelId: string | null
  campaignId: string | null
  /** If projectId is null: all existing projects. Absent until they are read. */
  projectIds?: readonly string[]
}

/** `action`: reads the events' own fields (the default), or also their visitors' identities. */
export type ScopeOf = (
  principal: Principal,
  requested: RequestedScope,
  action?: Exclude<Action, 'write'>,
) => Promise<Scope>

/**
 * Creates the function that returns which events a principal may see (spec: Project key). It throws 404
 * "organization not found", "project not found", "pixel not found" or "campaign not found" for objects of
 * others, and 403 "pixel inactive". A plain member reads one of their projects, and identities only as its
 * admin: 400 and 403. A share link reads its own project or pixel, without identities.
 */
export function createScopeOf(postgres: Postgres): ScopeOf {
  const projectIs = ttlCache((key) => isProject(postgres, key))
  const pixelIs = ttlCache((key) => readPixel(postgres, key))
  const campaignIs = ttlCache((key) => readCampaign(postgres, key))
  const roleIn = ttlCache((key) => readProjectRole(postgres, key))

  return async (principal, requested, action = 'read') => {
    const { organizationId, caller } = principal
    if (requested.organizationId && requested.organizationId !== organizationId)
      throw notFound.organization()
    if (caller.kind === 'share' && action === 'identity') throw identityIsForAdmins()
    const sharedPixelId = caller.kind === 'share' ? caller.pixelId : null
    if (sharedPixelId && requested.pixelId && requested.pixelId !== sharedPixelId)
      throw notFound.pixel()
    requireOwnProject(principal, 'events', requested.projectId)
    const own = { organizationId, projectId: principal.projectId }
    if (
      requested.projectId &&
      !(await projectIs(JSON.stringify({ ...own, id: requested.projectId })))
    )
      throw notFound.project()

    const pixelId = sharedPixelId ?? requested.pixelId ?? null
    const pixel = pixelId ? await pixelIs(JSON.stringify({ ...own, id: pixelId })) : null
    if (pixel === undefined || isElsewhere(pixel, requested)) throw notFound.pixel()
    const campaignId = requested.campaignId?.toLowerCase() ?? null
    const campaign = campaignId
      ? await campaignIs(JSON.stringify({ ...own, id: campaignId }))
      : null
    if (campaign === undefined || isElsewhere(campaign, requested)) throw notFound.campaign()

    // The project is first in the primary key, so the query names it even if the pixel or the campaign would
    // suffice.
    const projectId =
      principal.projectId ??
      requested.projectId ??
      pixel?.project_id ??
      campaign?.project_id ??
      null
    const memberId = plainMemberId(principal)
    if (memberId !== null) {
      if (projectId === null)
        throw invalidParameter('project_id', 'is required: this route reads one project at a time')
      const role = await roleIn(JSON.stringify({ memberId, projectId }))
      if (!role)
        throw requested.projectId
          ? notFound.project()
          : pixel
            ? notFound.pixel()
            : notFound.campaign()
      requireAction(role, action)
    }
    if (pixel && !pixel.active) throw pixelInactive()
    return { organizationId, projectId, pixelId, campaignId }
  }
}

/** Whether a pixel or a campaign belongs to another project than the requested one. */
const isElsewhere = (
  found: { project_id: string } | null,
  { projectId }: RequestedScope,
): boolean => found !== null && projectId !== undefined && found.project_id !== projectId
