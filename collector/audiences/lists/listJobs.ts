import { type Again, type Job, type Queue, wakeQueue } from '../../platform/jobs/queue.ts'
import { LeaseHeldError } from '../../platform/postgres/lease.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import { clean } from './clean.ts'
import { runImport } from './import/runImport.ts'
import { failImport, failLostImports, listImports, readUnfinishedImports } from './imports.ts'
import type { ListJobsDeps } from './jobsDeps.ts'
import { goneLists } from './lists.ts'

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
