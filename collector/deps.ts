import type { FastifyRequest } from 'fastify'
import type { Principal } from './access/principal.ts'
import type { ClickHouse } from './clickhouse/client.ts'

/** What the areas that answer reads are built from; one record, handed to each area's routes. */
export interface ReadDeps {
  /** The events of real visitors, and the sample database that test keys read. */
  clickhouse: { live: ClickHouse; test: ClickHouse }
  /** Who is asking. Throws 401 in the spec's words; adds X-Svc-Mode to answers of test keys. */
  authenticate(request: FastifyRequest): Promise<Principal>
  /**
   * What of the principal's events a request may see, decided here for every read. Throws 404 for a project,
   * pixel or campaign that is not the principal's, 403 "pixel inactive".
   */
  scopeOf(principal: Principal, asked: AskedScope): Promise<Scope>
}

/** The scope parameters of a request, as sent; ids are checked here, not by the caller. */
export interface AskedScope {
  projectId?: string | undefined
  pixelId?: string | undefined
  campaignId?: string | undefined
}

/** The rows a read may touch: becomes part of every query plan. */
export interface Scope {
  organizationId: string
  projectId: string | null
  pixelId: string | null
  campaignId: string | null
}
