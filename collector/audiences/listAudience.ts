import type { Queryable } from '../platform/postgres/transaction.ts'
import { uuidV7 } from '../platform/uuidV7.ts'
import { requestBuild } from './builds.ts'
import type { Kind } from './lists/kinds.ts'

/** Returns the entity of a list: the people of its addresses or browsers, or its companies. */
export const entityOf = (kind: Kind): 'people' | 'companies' =>
  kind === 'domains' ? 'companies' : 'people'

/** More people of a list of cookies become known without a change of the list. */
const cookieMinutes = 15

/**
 * Returns the build with the current state of a list. It is the newest build if the list has not changed
 * since the day began, otherwise a requested one. Call it in a transaction. Undefined for a deleted list.
 */
export async function requestListBuild(
  client: Queryable,
  listId: string,
): Promise<string | undefined> {
  const { rows: lists } = await client.query<{
    project_id: string
    name: string
    kind: Kind
    members_version: string
  }>('SELECT project_id, name, kind, members_version FROM lists WHERE list_id = $1 FOR KEY SHARE', [
    listId,
  ])
  if (!lists[0]) return undefined
  const { project_id, name, kind, members_version } = lists[0]
  const entity = entityOf(kind)
  const definition = { entity, include: { list: { list_id: listId } } }
  await client.query(
    `INSERT INTO audiences (audience_id, project_id, name, entity, definition, intent_window_days, list_id)
     VALUES ($1, $2, $3, $4, $5, 30, $6) ON CONFLICT (list_id) DO NOTHING`,
    [uuidV7(), project_id, name, entity, JSON.stringify(definition), listId],
  )
  const { rows } = await client.query<{ audience_id: string; build_id: string | null }>(
    `SELECT audience_id, newest.build_id FROM audiences LEFT JOIN LATERAL (
       SELECT build_id FROM audience_builds
       WHERE audience_builds.audience_id = audiences.audience_id AND status <> 'failed' AND members_kept
         AND requested_at >= greatest(date_trunc('day', now(), 'UTC'), now() - make_interval(mins => $3))
       ORDER BY number DESC LIMIT 1
     ) AS newest ON list_version = $2
     WHERE list_id = $1 FOR UPDATE OF audiences`,
    [listId, members_version, kind === 'cookies' ? cookieMinutes : 1_440],
  )
  const { audience_id, build_id } = rows[0]!
  if (build_id !== null) return build_id
  await client.query('UPDATE audiences SET list_version = $2 WHERE audience_id = $1', [
    audience_id,
    members_version,
  ])
  return requestBuild(client, audience_id)
}
