import type { FastifyRequest } from 'fastify'
import { audit } from '../api/access/audit.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { Meter } from './meters.ts'

/** Records that a member is about to be shown. */
export interface IdentityRead {
  /** Null: on none. */
  meter: Meter | null
  records: number
  /** Owner of the events. Null: the organization. */
  projectId: string | null
  isDownload?: boolean
}

/**
 * Writes to the audit log that a member reads identities. Reads of programs with a key are in the log of
 * requests. The owner of events does not identify people, so reads of only this field leave no entry.
 */
export async function recordIdentityRead(
  postgres: Postgres,
  { id, principal, routeOptions }: Pick<FastifyRequest, 'id' | 'principal' | 'routeOptions'>,
  { meter, records, projectId, isDownload }: IdentityRead,
): Promise<void> {
  if (principal.caller.kind !== 'member' || meter === 'events' || records === 0) return
  const object =
    projectId === null
      ? ({ kind: 'organization', id: principal.organizationId } as const)
      : ({ kind: 'project', id: projectId } as const)
  const action = isDownload ? 'identity.download' : 'identity.read'
  await audit(postgres, principal, action, object, {
    meter,
    records,
    request_id: id,
    route: `${routeOptions.method} ${routeOptions.url}`,
  })
}
