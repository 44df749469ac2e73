import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Parsed } from '../definition/definition.ts'
import { leavesOf } from '../definition/leaves.ts'
import { readNotCompleted } from '../lists/imports.ts'
import type { Kind } from '../lists/kinds.ts'
import { AudienceNotBuilt } from './usedBuilds.ts'

/** The lists in leaves, with the type of their items, and their imports whose rows are not members (yet). */
export interface UsedLists {
  readonly kinds: ReadonlyMap<string, Kind>
  readonly notCompleted: readonly string[]
}

/** Reads the current state of the lists in leaves. Throws AudienceNotBuilt for a deleted list. */
export async function readUsedLists(client: Queryable, parsed: Parsed): Promise<UsedLists> {
  const used = leavesOf(parsed, 'list').map(({ leaf }) => leaf.listId)
  if (used.length === 0) return { kinds: new Map(), notCompleted: [] }
  const { rows } = await client.query<{ list_id: string; kind: Kind }>(
    'SELECT list_id, kind FROM lists WHERE list_id = ANY($1)',
    [used],
  )
  const kinds = new Map(rows.map(({ list_id, kind }) => [list_id, kind]))
  const deleted = used.find((listId) => !kinds.has(listId))
  if (deleted) throw new AudienceNotBuilt(`The list ${deleted} in the definition was deleted.`)
  return { kinds, notCompleted: await readNotCompleted(client, used) }
}
