import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { oldAuthentication } from '../http/deprecation.ts'
import { ApiError, forbidden } from '../http/errors.ts'
import type { Authenticate } from './authenticate.ts'
import { requireKeyRole } from './permissions.ts'
import type { Principal } from './principal.ts'
import type { TakeTokens } from './rateLimits.ts'
import { isProjectScoped, readProjectHeader } from './requestedProject.ts'
import type { Access } from './routeAccess.ts'
import { type SandboxTenant, showOwnNames, showSampleIds } from './sandboxTenant.ts'
import { requireSharedRoute } from './shareLinks.ts'
import type { WrongKeyLimit } from './wrongKeys.ts'

/** Cache-Control of responses for one caller, which no cache may store. */
export const personal = 'private, no-store'

export interface GuardDeps {
  authenticate: Authenticate
  /** Null: requests are not limited. */
  takeTokens: TakeTokens | null
  /** Called for every request with a valid key. */
  noteKeyUse(keyId: string): void
  /** Null: wrong keys are not limited. */
  wrongKeys: WrongKeyLimit | null
  /** Redirects a test key's request to the sample organization, and undoes its writes. */
  sandboxTenant: SandboxTenant
}

/**
 * Adds hooks to every route that is registered afterwards, by its `config.access`. Their order for a request:
 *
 * - onRequest runs authorize: authenticate ▶ key role and project ▶ rate limit ▶ `request.principal`.
 * - preValidation runs sandboxTenant.enterBody, and readProjectHeader for routes with `project_id`.
 * - The handler of a charged route calls billing's `admit`, which is a separate decision.
 *
 * Call it before any route is registered. The instance refuses to become ready with a route that has no
 * `config.access`.
 */
export function guardRoutes(app: FastifyInstance, deps: GuardDeps): void {
  const routes: RouteOptions[] = []
  app.decorate('guardedRoutes', routes)
  app.decorateRequest('principal')
  app.decorateRequest('askedBy', null)
  app.decorateRequest('sampleNames', null)
  app.addHook('preSerialization', showSampleIds)
  app.addHook('onSend', showOwnNames)
  app.addHook('onRoute', (route) => {
    routes.push(route)
    const access = route.config?.access
    // HEAD only authenticates and validates: it reads nothing, is free and takes no free answer.
    if (route.method === 'HEAD' && (route.config?.charged || route.config?.freeAnswers))
      route.handler = answerHead
    if (access && access.to !== 'anyone') {
      const hook = (request: FastifyRequest, reply: FastifyReply) =>
        authorize(deps, access, request, reply)
      route.onRequest = [hook, ...[route.onRequest ?? []].flat()] as NonNullable<
        RouteOptions['onRequest']
      >
      const hooks = [
        deps.sandboxTenant.enterBody,
        ...(isProjectScoped(route.schema) ? [readProjectHeader] : []),
      ]
      route.preValidation = [...hooks, ...[route.preValidation ?? []].flat()] as NonNullable<
        RouteOptions['preValidation']
      >
      if (access.to === 'key' && access.keyRole !== 'read')
        simulateForTestKeys(route, deps.sandboxTenant)
    }
  })
  app.addHook('onReady', async () => {
    const undeclared = routes.filter((route) => !route.config?.access).map(nameOf)
    if (undeclared.length > 0) throw new Error(`no config.access: ${undeclared.join('; ')}`)
  })
}

/** Runs the handler of a writing route as for a live key, and undoes its writes. */
function simulateForTestKeys(route: RouteOptions, { simulate }: SandboxTenant): void {
  const { handler } = route
  route.handler = function (request, reply) {
    if (request.principal.mode !== 'test') return handler.call(this, request, reply)
    return simulate(async () => handler.call(this, request, reply))
  }
}

const answerHead = async (_request: FastifyRequest, reply: FastifyReply) =>
  reply.type('application/json; charset=utf-8').send()

const nameOf = (route: RouteOptions): string => `${[route.method].flat().join(', ')} ${route.url}`

/** An onRoute hook for a plugin whose routes need no key: it makes all of them public. */
export const forAnyone = (route: RouteOptions): void => {
  route.config = { ...route.config, access: { to: 'anyone' } }
}

/** Decides whether a request may use a route, and sets `request.principal`. */
async function authorize(
  deps: GuardDeps,
  access: Exclude<Access, { to: 'anyone' }>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.header('cache-control', personal)
  const { takeTokens, noteKeyUse, sandboxTenant } = deps
  const principal = await authenticateRequest(deps, access, request)
  request.askedBy = principal
  if (principal.caller.kind === 'key') {
    noteKeyUse(principal.caller.keyId)
    if (!request.headers['x-api-secret']) reply.headers(oldAuthentication)
  }
  if (access.to === 'key') {
    const isShare = principal.caller.kind === 'share'
    if (isShare) requireSharedRoute(request, principal)
    else requireAllowed(principal, access)
    if (takeTokens) reply.headers(await takeTokens(principal, isShare ? 'share' : access.limit))
  }
  request.principal =
    principal.mode === 'test' ? await sandboxTenant.enter(request, principal) : principal
}

/** Authenticates a request, and limits networks with too many wrong keys or secrets. */
export async function authenticateRequest(
  { authenticate, wrongKeys }: Pick<GuardDeps, 'authenticate' | 'wrongKeys'>,
  access: Exclude<Access, { to: 'anyone' }>,
  request: FastifyRequest,
): Promise<Principal> {
  try {
    return await authenticate(request, access)
  } catch (error) {
    const { 'x-api-key': apiKey, authorization } = request.headers
    const hasCredentials = (apiKey ?? authorization) !== undefined
    if (hasCredentials && error instanceof ApiError && error.status === 401)
      await wrongKeys?.count(request.ip)
    throw error
  }
}

function requireAllowed(
  { projectId, caller }: Principal,
  access: Extract<Access, { to: 'key' }>,
): void {
  if (projectId !== null && access.projectKeys === 'refused') {
    throw forbidden('This endpoint is not available to a project-scoped API key.')
  }
  if (caller.kind === 'key') requireKeyRole(caller.role, access.keyRole)
  // Data routes accept keys of the organization or of one project; a plain member's projects are neither.
  if (caller.kind === 'member' && caller.role === 'member' && access.members !== true) {
    throw forbidden('This requires the owner or admin role in the organization.')
  }
}
