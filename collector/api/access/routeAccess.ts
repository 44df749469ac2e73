import type { RouteOptions } from 'fastify'
import type { KeyRole, Principal } from './principal.ts'
import type { RateLimitName } from './rateLimits.ts'
import type { SampleIds } from './sandboxTenant.ts'

/**
 * Who may ask a route, declared with it as `config.access`. A route that declares nothing keeps the service from
 * starting (guard.ts).
 */
export type Access =
  /** Health, documentation, ingest, sign-in. */
  | { to: 'anyone' }
  /** A member signed in to the dashboard: no key or token will do. */
  | { to: 'session' }
  /** An API key, or a legacy token of a member. */
  | {
      to: 'key'
      /**
       * Access of a key of one project (spec: Project key): only its project, the same as a key of the
       * organization, or 403.
       */
      projectKeys: 'own project' | 'as organization' | 'refused'
      /** The least that a key must be allowed: to read data, to write records, or to administer. */
      keyRole: Exclude<KeyRole, 'owner'>
      limit: RateLimitName
      /**
       * Also for members with a dashboard session: admins of the organization, or all roles if the route
       * checks permissions itself.
       */
      members?: true | 'admins'
      /** `Authorization: Bearer <API key>` too (spec: lists and campaigns). */
      bearerKey?: true
    }

declare module 'fastify' {
  interface FastifyInstance {
    /** All routes with their declared access. */
    guardedRoutes: readonly RouteOptions[]
  }
  interface FastifyContextConfig {
    access?: Access
    sampleIds?: SampleIds
  }
  interface FastifyRequest {
    /** Who is asking; set by the guard on every route that is not for anyone. */
    principal: Principal
    /** The same, but for a test key its own organization; null before authentication. */
    askedBy: Principal | null
  }
}
