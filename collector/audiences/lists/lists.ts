import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import type { RecordScope } from '../../api/access/policy.ts'
import { busy, notFound, requireUnused } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { readPage } from '../../api/http/pagination.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import { type Lease, LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Kind } from './kinds.ts'
import type { ListChange, List as ListSchema } from './listSchemas.ts'
import type { ListsDeps } from './listsDeps.ts'

export type List = Static<typeof ListSchema>

/** The queue that deletes the members of deleted lists. */
export const goneLists = 'lists.clean'

export interface Choice {
  scope: RecordScope
  audience_id?: string | undefined
  campaign_id?: string | undefined
}

const columns = `lists.list_id AS id, lists.project_id, lists.name, lists.kind, lists.count::float8 AS count, lists.version,
  lists.created_at, lists.updated_at`

/** SQL of a choice: the parameters $1 to $4. */
const chosen = `FROM lists JOIN projects USING (project_id)
  WHERE organization_id = $1 AND ($2::uuid[] IS NULL OR project_id = ANY($2))
    AND ($3::uuid IS NULL OR list_id IN (SELECT list_id FROM audience_lists WHERE audience_id = $3))
    AND ($4::uuid IS NULL OR list_id IN (
      SELECT list_id FROM audience_lists JOIN campaigns USING (audience_id) WHERE campaign_id = $4))`

const parametersOf = ({ scope, audience_id, campaign_id }: Choice) => [
  scope.organizationId,
  scope.projectIds,
  audience_id ?? null,
  campaign_id ?? null,
]

const retrySeconds = 2
const lockNotAvailable = '55P03'

/**
 * Reads a list. Throws 404 "list not found", also for one outside the scope. For a locked list it throws 503
 * "busy" at once. The import that counts its rows may take minutes, and a waiting request holds one of the
 * few connections that all requests share.
 */
export async function readList(
  client: Queryable,
  scope: RecordScope,
  listId: string,
  lock = false,
): Promise<List> {
  if (!isUuid(listId)) throw notFound.list()
  const [list] = await readRecords<List>(
    client,
    `SELECT ${columns} ${chosen} AND list_id = $5 ${lock ? 'FOR NO KEY UPDATE OF lists NOWAIT' : ''}`,
    [...parametersOf({ scope }), listId],
  ).catch((error: { code?: string }) => {
    throw error.code === lockNotAvailable ? beingChanged() : error
  })
  if (!list) throw notFound.list()
  return list
}

const beingChanged = () =>
  busy('Another request is changing the list, or an import is ending. Try again.', retrySeconds)

/** Runs `work` while nothing else changes the members of the list. Throws 503 "busy". */
export const changeMembers = <T>(
  postgres: Postgres,
  listId: string,
  work: (lease: Lease) => Promise<T>,
): Promise<T> =>
  withLease(postgres, listId, work).catch((error) => {
    throw error instanceof LeaseHeldError ? beingChanged() : error
  })

/** Returns a page of lists, newest first. Throws 400 for an invalid cursor. */
export async function readLists(
  deps: Pick<ListsDeps, 'postgres' | 'cursors'>,
  choice: Choice,
  page: { limit?: number | undefined; cursor?: string | undefined },
): Promise<{ lists: List[]; next_cursor?: string }> {
  const { rows, next } = await readPage<List>(deps, page, {
    list: 'lists',
    owner: choice.scope.organizationId,
    sql: `SELECT ${columns} ${chosen}`,
    values: parametersOf(choice),
    key: { id: 'uuid' },
    order: 'desc',
  })
  return { lists: rows, ...next }
}

export async function createList(
  client: Queryable,
  {
    listId,
    projectId,
    name,
    kind,
  }: { listId: string; projectId: string; name: string; kind: Kind },
): Promise<List> {
  const [list] = await readRecords<List>(
    client,
    `INSERT INTO lists (list_id, project_id, name, kind) VALUES ($1, $2, $3, $4) RETURNING ${columns}`,
    [listId, projectId, name, kind],
  )
  return list!
}

/** Changes the given fields. Throws 409 with the current list if `version` is not the newest. */
export async function changeList(
  client: Queryable,
  list: List,
  { version, name = list.name }: Static<typeof ListChange>,
): Promise<List> {
  requireVersion('list', list, version)
  const [changed] = await readRecords<List>(
    client,
    `UPDATE lists SET name = $2, version = version + 1, updated_at = now() WHERE list_id = $1 RETURNING ${columns}`,
    [list.id, name],
  )
  return changed!
}

/**
 * Deletes a list; a job deletes its rows. Throws 409 "conflict" with the names of audiences or exports that
 * use it. Call it in a transaction.
 */
export async function deleteList(client: Queryable, listId: string): Promise<void> {
  // Waits for transactions that create an audience or export with this list, so that the check below sees
  // them.
  await client.query('SELECT FROM lists WHERE list_id = $1 FOR UPDATE', [listId])
  const { rows } = await client.query<{ audience_id: string; name: string }>(
    `SELECT audience_id, audiences.name FROM audience_lists JOIN audiences USING (audience_id)
     WHERE audience_lists.list_id = $1 ORDER BY created_at`,
    [listId],
  )
  requireUnused(
    rows,
    (names) => `The audience ${names} uses it. Change or delete that audience first.`,
  )
  const { rows: exports } = await client.query<{ export_id: string; name: string }>(
    'SELECT export_id, name FROM exports WHERE list_id = $1 ORDER BY export_id',
    [listId],
  )
  requireUnused(
    exports,
    (names) => `The export ${names} sends it. Change or delete that export first.`,
  )
  await client.query('DELETE FROM lists WHERE list_id = $1', [listId])
  await wakeQueue(client, goneLists)
}

export async function noteRemoved(
  client: Queryable,
  listId: string,
  removed: number,
): Promise<void> {
  await client.query(
    `UPDATE lists SET count = greatest(count - $2, 0), members_version = members_version + 1, updated_at = now()
     WHERE list_id = $1`,
    [listId, removed],
  )
}
