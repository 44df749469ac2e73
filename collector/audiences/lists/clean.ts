import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { clickhouseOf } from '../../events/query/eventStores.ts'
import { readNotCompleted } from './imports.ts'
import type { ListJobsDeps } from './jobsDeps.ts'
import type { Kind } from './kinds.ts'
import { countMembers, deleteImportRows, dropRows, readStoredLists } from './listRows.ts'

/** Rows of imports that failed within the last days are deleted. */
const failedDays = 2

/** Deletes rows of deleted lists and of failed imports, and updates counts. */
export async function clean(deps: ListJobsDeps): Promise<void> {
  await dropGoneLists(deps)
  await deleteFailed(deps)
  await countAfterErasures(deps)
}

async function dropGoneLists({ postgres, clickhouse }: ListJobsDeps): Promise<void> {
  for (const store of Object.values(clickhouse)) {
    const stored = await readStoredLists(store)
    const { rows } = await postgres.query<{ list_id: string }>(
      'SELECT list_id FROM lists WHERE list_id = ANY($1)',
      [stored],
    )
    const kept = new Set(rows.map(({ list_id }) => list_id))
    for (const listId of stored) if (!kept.has(listId)) await dropRows(store, listId)
  }
}

async function deleteFailed(deps: ListJobsDeps): Promise<void> {
  const { rows } = await deps.postgres.query<{
    import_id: string
    list_id: string
    organization_id: string
  }>(
    `SELECT import_id, list_id, organization_id
     FROM list_imports JOIN lists USING (list_id) JOIN projects USING (project_id)
     WHERE list_imports.status = 'failed' AND list_imports.updated_at > now() - make_interval(days => $1)`,
    [failedDays],
  )
  for (const { import_id, list_id, organization_id } of rows) {
    await deleteImportRows(clickhouseOf(deps, organization_id), list_id, import_id)
  }
}

/** Updates earlier counts after erasures, which remove members. */
async function countAfterErasures(deps: ListJobsDeps): Promise<void> {
  const { postgres } = deps
  const { rows } = await postgres.query<{ list_id: string; kind: Kind; organization_id: string }>(
    `SELECT list_id, kind, organization_id FROM lists JOIN projects USING (project_id)
     WHERE organization_id <> $1 AND counted_at < (
       SELECT max(finished_at) FROM erasures
       WHERE erasures.organization_id IS NULL OR erasures.organization_id = projects.organization_id)`,
    [sampleIdentity.organizationId],
  )
  for (const { list_id, kind, organization_id } of rows) {
    const notCompleted = await readNotCompleted(postgres, [list_id])
    const store = clickhouseOf(deps, organization_id)
    const count = await countMembers(store, { listId: list_id, kind, notCompleted })
    await postgres.query('UPDATE lists SET count = $2, counted_at = now() WHERE list_id = $1', [
      list_id,
      count,
    ])
  }
}
