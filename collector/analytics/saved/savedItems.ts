import { audit } from '../../api/access/audit.ts'
import { lockProject } from '../../api/access/locks.ts'
import { callerId, type Principal } from '../../api/access/principal.ts'
import { conflict } from '../../api/http/errors.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { SavedContent, SavedKind } from './savedKinds.ts'

/** The maximum number of items of one kind in a project. */
export const savedItemsMax = 200

export interface SavedItem {
  item_id: string
  project_id: string
  content: SavedContent
  created_by: string | null
  version: number
  created_at: string
  updated_at: string
}

const columns = `item_id, project_id, content, created_by, version, created_at, updated_at`

export const listSavedItems = (
  client: Queryable,
  projectId: string,
  { kind }: SavedKind,
): Promise<SavedItem[]> =>
  readRecords<SavedItem>(
    client,
    `SELECT ${columns} FROM saved_items WHERE project_id = $1 AND kind = $2 ORDER BY created_at, item_id`,
    [projectId, kind],
  )

export async function readSavedItem(
  client: Queryable,
  organizationId: string,
  { kind }: SavedKind,
  itemId: string,
  lock = false,
): Promise<SavedItem | undefined> {
  const [item] = await readRecords<SavedItem>(
    client,
    `SELECT ${columns} FROM saved_items WHERE item_id = $1 AND kind = $2
       AND project_id IN (SELECT project_id FROM projects WHERE organization_id = $3) ${lock ? 'FOR UPDATE' : ''}`,
    [itemId, kind, organizationId],
  )
  return item
}

/** Creates an item; call it in a transaction. Throws 409 if the project has the maximum number. */
export async function createSavedItem(
  client: Queryable,
  principal: Principal,
  kind: SavedKind,
  projectId: string,
  content: SavedContent,
): Promise<SavedItem> {
  await lockProject(client, projectId)
  const others = await listSavedItems(client, projectId, kind)
  if (others.length >= savedItemsMax)
    throw conflict(
      'count_limit_reached',
      `The project has ${savedItemsMax} ${kind.plural}. Delete one first.`,
    )
  const [item] = await readRecords<SavedItem>(
    client,
    `INSERT INTO saved_items (project_id, kind, content, created_by) VALUES ($1, $2, $3, coalesce(
       (SELECT name FROM api_keys WHERE key_id = $4), (SELECT email FROM members WHERE member_id = $4)))
     RETURNING ${columns}`,
    [projectId, kind.kind, JSON.stringify(content), callerId(principal)],
  )
  await auditItem(client, principal, kind, 'create', item!, content)
  return item!
}

/** Changes fields of an item, in a transaction. */
export async function changeSavedItem(
  client: Queryable,
  principal: Principal,
  kind: SavedKind,
  before: SavedItem,
  fields: SavedContent,
): Promise<SavedItem> {
  const content = { ...before.content, ...fields }
  const [item] = await readRecords<SavedItem>(
    client,
    `UPDATE saved_items SET content = $2, version = version + 1, updated_at = now()
     WHERE item_id = $1 RETURNING ${columns}`,
    [before.item_id, JSON.stringify(content)],
  )
  await auditItem(client, principal, kind, 'update', item!, changesOf(before.content, content))
  return item!
}

/** Deletes an item, in a transaction. */
export async function deleteSavedItem(
  client: Queryable,
  principal: Principal,
  kind: SavedKind,
  item: SavedItem,
): Promise<void> {
  const { rowCount } = await client.query('DELETE FROM saved_items WHERE item_id = $1', [
    item.item_id,
  ])
  if (rowCount === 0) return
  await auditItem(client, principal, kind, 'delete', item, item.content)
}

const auditItem = (
  client: Queryable,
  principal: Principal,
  { kind }: SavedKind,
  action: 'create' | 'update' | 'delete',
  { item_id: id, project_id }: SavedItem,
  details: SavedContent,
): Promise<void> =>
  audit(client, principal, `${kind}.${action}`, { kind, id }, { project_id, ...details })
