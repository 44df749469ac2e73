import { type Again, type Job, type Queue, wakeQueue } from '../../platform/jobs/queue.ts'
import { LeaseHeldError } from '../../platform/postgres/lease.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import { clean } from './clean.ts'
import { runImport } from './import/runImport.ts'
import { failImport, failLostImports, listImports, readUnfinishedImports } from './imports.ts'
import type { ListJobsDeps } from './jobsDeps.ts'
import { goneLists } from './lists.ts'

/** The imports of one machine: nobody else has their files. */
const importsOf = (collectorId: string) => `lists.import.${collectorId}`

/** The background work of lists: import what was uploaded, drop what nobody refers to. */
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
      // Of one import, one runs at a time; what one that was killed has done is not done again.
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

/** Imports, or goes on where the job before was killed. What fails is retried, and after the last try told in `status`; while a store is away the import waits for it. */
async function runOne(
  deps: ListJobsDeps,
  { key, signal, isLastTry }: Job,
): Promise<Again | undefined> {
  try {
    await runImport(deps, key!, signal)
    // Others of the organization may have waited for it to end.
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
