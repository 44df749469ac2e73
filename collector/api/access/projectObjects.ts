import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { ApiError } from '../http/errors.ts'
import { type Action, projectFor, projectOfObject } from './policy.ts'
import type { Principal } from './principal.ts'

/** A kind of object that belongs to the events of a project: alerts, archives, segments. */
export interface ObjectKind<Found extends { readonly project_id: string }> {
  /** Reads an object of an organization, and locks it on request; undefined if none has this id. */
  readonly read: (
    client: Queryable,
    organizationId: string,
    id: string,
    lock?: boolean,
  ) => Promise<Found | undefined>
  readonly missing: () => ApiError
}

interface RequestedObject {
  readonly id: string
  readonly project_id?: string | undefined
}

/** Returns the project of a request about such objects: its own, or that of the key. Throws as projectFor does. */
export const objectProject = async (
  postgres: Postgres,
  principal: Principal,
  requestedId: string | undefined,
  action: Action,
): Promise<string> =>
  (await projectFor(postgres, principal, 'events', requestedId, action)).projectId

/**
 * Returns an object whose project the caller may read or change. Throws `missing` for an object of another project than
 * the request names, and for one of an inaccessible project.
 */
export async function objectFor<Found extends { readonly project_id: string }>(
  postgres: Postgres,
  principal: Principal,
  { read, missing }: ObjectKind<Found>,
  { id, project_id }: RequestedObject,
  action: Action,
): Promise<Found> {
  if (project_id !== undefined) await objectProject(postgres, principal, project_id, action)
  const found = await read(postgres, principal.organizationId, id)
  if (!found || (project_id !== undefined && found.project_id !== project_id)) throw missing()
  const object = { projectId: found.project_id, missing }
  await projectOfObject(postgres, principal, 'events', object, action)
  return found
}

/** Runs `change` in a transaction that locks an object whose project the caller may change. Throws as objectFor does. */
export async function changeObject<Found extends { readonly project_id: string }, T>(
  postgres: Postgres,
  principal: Principal,
  kind: ObjectKind<Found>,
  requested: RequestedObject,
  change: (client: Queryable, found: Found) => Promise<T>,
): Promise<T> {
  // Before the transaction, because a request that holds a connection must not wait for another one.
  const { organizationId } = principal
  await objectFor(postgres, principal, kind, requested, 'write')
  return inTransaction(postgres, async (client) => {
    const found = await kind.read(client, organizationId, requested.id, true)
    if (!found) throw kind.missing()
    return change(client, found)
  })
}
