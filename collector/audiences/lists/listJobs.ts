import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { clickhouseOf } from '../../events/query/eventStores.ts'
import { type Again, type Job, type Queue, wakeQueue } from '../../platform/jobs/queue.ts'
import { LeaseHeldError } from '../../platform/postgres/lease.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import { runImport } from './import/runImport.ts'
import {
  failImport,
  failLostImports,
  listImports,
  readNotCompleted,
  readUnfinishedImports,
} from './imports.ts'
import type { Kind } from './kinds.ts'
import { countMembers, deleteImportRows, dropRows, readStoredLists } from './listRows.ts'
import { goneLists } from './lists.ts'
import type { ListJobsDeps } from './listsDeps.ts'

/** The imports of one machine, because only it has their files. */
const importsOf = (collectorId: string) => `lists.import.${collectorId}`

/** The background jobs of lists: import uploads, drop unreferenced rows. */
export const listQueues = (deps: ListJobsDeps): Queue[] => {
  const ours = importsOf(deps.uploads.collectorId)
  return [
    {
      name: listImports,
      schedule: '* * * * *',
      async run({ send }) {
        await failLostImports(deps.postgres)
        for (const { importId, collectorId } of await readUnfinishedImports(deps.postgres)) {
          const queue = importsOf(collectorId ?? deps.uploads.collectorId)
          const sent = send(queue, importId)
          if (queue === ours) await sent
          // If that machine has never run jobs there is no queue, and its imports wait.
          else await sent.then(() => wakeQueue(deps.postgres, queue)).catch(() => {})
        }
      },
    },
    {
      // One job runs at a time for each import. A retry skips the completed work of a killed job.
      name: ours,
      concurrency: 2,
      timeoutSeconds: 3_600,
      run: (job) => runOne(deps, job),
    },
    {
      name: goneLists,
      schedule: '25 * * * *',
      timeoutSeconds: 3_600,
      run: () => clean(deps),
    },
  ]
}

/**
 * Imports, or continues a killed job. Failures are retried, and reported in `status` after the last try.
 * Without a store the import waits.
 */
async function runOne(
  deps: ListJobsDeps,
  { key, signal, isLastTry }: Job,
): Promise<Again | undefined> {
  try {
    await runImport(deps, key!, signal)
    // Other imports of the organization may have waited for this one.
    await wakeQueue(deps.postgres, listImports)
    return undefined
  } catch (error) {
    if (error instanceof LeaseHeldError) return { againInSeconds: 0 }
    if (isLastTry && !isUnavailable(error)) {
      const { code, message } = error as NodeJS.ErrnoException
      const isGone = code === 'ENOENT'
      await failImport(
        deps.postgres,
        key!,
        isGone
          ? 'The uploaded file was lost. Upload it again.'
          : 'The import failed because of an internal error. Contact the operator.',
      )
      deps.log.warn({ import_id: key, error: message }, 'an import into a list failed')
    }
    throw error
  }
}

/** Rows of imports that failed within the last days are deleted. */
const failedDays = 2

/** Deletes rows of deleted lists and of failed imports, and updates counts. */
async function clean(deps: ListJobsDeps): Promise<void> {
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
