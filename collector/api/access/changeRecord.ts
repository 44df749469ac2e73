import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { requireWholeOrganization } from './permissions.ts'
import { projectFor, type RecordScope, type RecordScopeOf } from './policy.ts'
import type { Principal } from './principal.ts'

/** Reads a record in a scope, and locks it on request. Throws 404 if the scope has no such record. */
type ReadRecord<Found> = (
  client: Queryable,
  scope: RecordScope,
  id: string,
  lock?: boolean,
) => Promise<Found>

/**
 * Runs `change` in a transaction that locks the record. Throws 403 or 404 for callers who may not change it.
 * A record without project belongs to the organization.
 */
export async function changeRecord<Found extends { readonly project_id: string | null }, T>(
  { postgres, recordScopeOf }: { postgres: Postgres; recordScopeOf: RecordScopeOf },
  { principal, query }: { principal: Principal; query: { project_id?: string } },
  read: ReadRecord<Found>,
  id: string,
  change: (client: Queryable, record: Found) => Promise<T>,
): Promise<T> {
  const scope = await recordScopeOf(principal, query.project_id)
  // Read before the transaction, because a request that holds a connection must not wait for another one.
  const { project_id } = await read(postgres, scope, id)
  if (project_id === null) requireWholeOrganization(principal)
  else await projectFor(postgres, principal, 'records', project_id, 'write')
  return inTransaction(postgres, async (client) =>
    change(client, await read(client, scope, id, true)),
  )
}
