import type { RouteOptions } from 'fastify'
import type { KeyRole, Principal } from './principal.ts'
import type { RateLimitName } from './rateLimits.ts'
import type { SampleIds } from './sandboxTenant.ts'

/** The callers that a route accepts: `config.access`, without which the service does not start. */
export type Access =
  /** Routes without authentication: health, documentation, ingest, sign-in. */
  | { to: 'anyone' }
  /** A member signed in to the dashboard; keys and tokens are refused. */
  | { to: 'session' }
  /** An API key, or a legacy token of a member. */
  | {
      to: 'key'
      /** How a key of one project is treated (spec: Project key). */
      projectKeys: 'own project' | 'as organization' | 'refused'
      /** The lowest sufficient key role: to read data, to write records, or to administer. */
      keyRole: Exclude<KeyRole, 'owner'>
      limit: RateLimitName
      /** Also accepts members with a session: admins, or all if the route checks permissions. */
      members?: true | 'admins'
      /** Also accepts `Authorization: Bearer <API key>` (spec: lists and campaigns). */
      bearerKey?: true
    }

declare module 'fastify' {
  interface FastifyInstance {
    guardedRoutes: readonly RouteOptions[]
  }
  interface FastifyContextConfig {
    access?: Access
    sampleIds?: SampleIds
  }
  interface FastifyRequest {
    /** The caller; the guard sets it on every route that requires authentication. */
    principal: Principal
    /** The authenticated caller; for a test key with its own organization. Null before authentication. */
    askedBy: Principal | null
  }
}
