import type { FastifyRequest } from 'fastify'
import { audit } from '../api/access/audit.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { Meter } from './meters.ts'

/** Records that a member is about to be shown. */
export interface Look {
  /** Null: on none. */
  meter: Meter | null
  records: number
  /** Whose they are; null: the organization's. */
  projectId: string | null
}

/**
 * Records in the audit log that a member looks at who people are; what programs read with a key is in the log of
 * requests. Whose events they are tells nobody apart, so reads of these alone leave no entry.
 */
export async function recordLook(
  postgres: Postgres,
  { id, principal, routeOptions }: Pick<FastifyRequest, 'id' | 'principal' | 'routeOptions'>,
  { meter, records, projectId }: Look,
): Promise<void> {
  if (principal.caller.kind !== 'member' || meter === 'events' || records === 0) return
  const object =
    projectId === null
      ? ({ kind: 'organization', id: principal.organizationId } as const)
      : ({ kind: 'project', id: projectId } as const)
  await audit(postgres, principal, 'identity.read', object, {
    meter,
    records,
    request_id: id,
    route: `${routeOptions.method} ${routeOptions.url}`,
  })
}
