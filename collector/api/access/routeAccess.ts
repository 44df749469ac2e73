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
       * What a key of one project gets (spec: Project key): only what is of its project, the same as
       * a key of the organization, or 403.
       */
      projectKeys: 'own project' | 'as organization' | 'refused'
      /** The least that a key must be allowed: to read data, to write records, or to administer. */
      keyRole: Exclude<KeyRole, 'owner'>
      limit: RateLimitName
      /**
       * Members too, signed in to the dashboard: those who may act for the whole organization, or whatever their role,
       * where the route itself says what each may do.
       */
      members?: true | 'admins'
      /** `Authorization: Bearer <API key>` too (spec: lists and campaigns). */
      bearerKey?: true
    }

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route, with what it declares. */
    guardedRoutes: readonly RouteOptions[]
  }
  interface FastifyContextConfig {
    access?: Access
    sampleIds?: SampleIds
  }
  interface FastifyRequest {
    /** Who is asking; set by the guard on every route that is not for anyone. */
    principal: Principal
    /** The same, but of a test key its own organization; null while nobody is known. */
    askedBy: Principal | null
  }
}
