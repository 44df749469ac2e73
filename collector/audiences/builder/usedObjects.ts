import type { Queryable } from '../../platform/postgres/transaction.ts'
import { leavesOf, type Parsed } from '../definition/definition.ts'
import { readNotCompleted } from '../lists/imports.ts'
import type { Kind } from '../lists/kinds.ts'

/** A leaf names a missing object: an audience without a build yet, or a deleted list. */
export class MissingReference extends Error {}

/** Whether intent determines the members, through own leaves or through a build that is used. */
export async function isPredictive(
  client: Queryable,
  parsed: Parsed,
  usedBuilds: readonly string[],
): Promise<boolean> {
  if (leavesOf(parsed, 'intent').length > 0) return true
  if (usedBuilds.length === 0) return false
  const { rowCount } = await client.query(
    'SELECT FROM audience_builds WHERE build_id = ANY($1) AND is_predictive LIMIT 1',
    [usedBuilds],
  )
  return rowCount !== 0
}

/** Returns the served builds of the audiences in leaves. Throws MissingReference. */
export async function readUsedBuilds(
  client: Queryable,
  parsed: Parsed,
): Promise<ReadonlyMap<string, string>> {
  const used = leavesOf(parsed, 'audience').map(({ leaf }) => leaf.audienceId)
  if (used.length === 0) return new Map()
  const { rows } = await client.query<{ audience_id: string; current_build_id: string }>(
    'SELECT audience_id, current_build_id FROM audiences WHERE audience_id = ANY($1) AND current_build_id IS NOT NULL',
    [used],
  )
  const builds = new Map(
    rows.map(({ audience_id, current_build_id }) => [audience_id, current_build_id]),
  )
  const missing = used.find((audienceId) => !builds.has(audienceId))
  if (missing)
    throw new MissingReference(`The audience ${missing} in the definition is not built yet.`)
  return builds
}

/** The lists in leaves, with the type of their items, and their imports whose rows are not members (yet). */
export interface UsedLists {
  readonly kinds: ReadonlyMap<string, Kind>
  readonly notCompleted: readonly string[]
}

/** Reads the current state of the lists in leaves. Throws MissingReference for a deleted list. */
export async function readUsedLists(client: Queryable, parsed: Parsed): Promise<UsedLists> {
  const used = leavesOf(parsed, 'list').map(({ leaf }) => leaf.listId)
  if (used.length === 0) return { kinds: new Map(), notCompleted: [] }
  const { rows } = await client.query<{ list_id: string; kind: Kind }>(
    'SELECT list_id, kind FROM lists WHERE list_id = ANY($1)',
    [used],
  )
  const kinds = new Map(rows.map(({ list_id, kind }) => [list_id, kind]))
  const deleted = used.find((listId) => !kinds.has(listId))
  if (deleted) throw new MissingReference(`The list ${deleted} in the definition was deleted.`)
  return { kinds, notCompleted: await readNotCompleted(client, used) }
}

/**
 * Returns the versions of the lists in leaves, and the served builds of the audiences. When one of them changes, the same
 * definition asks something else.
 */
export async function readUsedVersions(
  client: Queryable,
  parsed: Parsed,
): Promise<readonly unknown[]> {
  const lists = leavesOf(parsed, 'list').map(({ leaf }) => leaf.listId)
  const audiences = leavesOf(parsed, 'audience').map(({ leaf }) => leaf.audienceId)
  if (lists.length + audiences.length === 0) return []
  const { rows } = await client.query<{ id: string; version: string | null }>(
    `SELECT list_id AS id, members_version::text AS version FROM lists WHERE list_id = ANY($1)
     UNION ALL
     SELECT audience_id, current_build_id::text FROM audiences WHERE audience_id = ANY($2)
     ORDER BY id`,
    [lists, audiences],
  )
  return rows
}
