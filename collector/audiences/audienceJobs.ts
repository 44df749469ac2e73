import type { EventStores } from '../events/query/eventStores.ts'
import { type Again, type Job, type Queue, wakeQueue } from '../platform/jobs/queue.ts'
import type { WarnLog } from '../platform/log.ts'
import { deleteAbandonedLeases, LeaseHeldError } from '../platform/postgres/lease.ts'
import { isUnavailable } from '../platform/storeErrors.ts'
import { buildNow } from './builder/buildNow.ts'
import { dropMembers, readStoredBuilds } from './builder/storedMembers.ts'
import { AudienceNotBuilt } from './builder/usedObjects.ts'
import { buildsQueue, failBuild } from './builds.ts'
import { requestDueBuilds } from './refresh.ts'
import { keepsMembers, readDroppableBuilds, readUnfinishedBuilds } from './unfinishedBuilds.ts'

export interface AudienceJobsDeps extends EventStores {
  log: WarnLog
}

const oneBuild = 'audiences.build'

/** The background jobs of audiences: request due builds, build, drop unreferenced builds. */
export const audienceQueues = (deps: AudienceJobsDeps): Queue[] => [
  {
    name: buildsQueue,
    schedule: '* * * * *',
    async run({ send }) {
      await requestDueBuilds(deps.postgres)
      for (const buildId of await readUnfinishedBuilds(deps.postgres)) await send(oneBuild, buildId)
    },
  },
  {
    // One job runs at a time for each build. A retry skips the completed work of a killed job.
    name: oneBuild,
    timeoutSeconds: 3_600,
    run: (job) => build(deps, job),
  },
  {
    name: 'audiences.drop-builds',
    schedule: '15 * * * *',
    async run() {
      await dropBuilds(deps)
      await deleteAbandonedLeases(deps.postgres)
    },
  },
]

/** Delay before a build that another process holds is tried again. */
const heldSeconds = 5

/**
 * Builds, or continues a killed job. Failures are retried, and reported in `status` after the last try.
 * Without a store the build waits.
 */
async function build(
  { postgres, clickhouse, log }: AudienceJobsDeps,
  job: Job,
): Promise<Again | undefined> {
  try {
    await buildNow({ postgres, clickhouse }, job.key!)
    // Other builds of the organization may have waited for this one.
    await wakeQueue(postgres, buildsQueue)
    return undefined
  } catch (error) {
    if (error instanceof LeaseHeldError) return { againInSeconds: heldSeconds }
    if (job.isLastTry && !isUnavailable(error)) {
      const reason =
        error instanceof AudienceNotBuilt
          ? error.message
          : 'The build failed because of an internal error. Contact the operator.'
      await failBuild(postgres, job.key!, reason)
      log.warn(
        { build_id: job.key, error: (error as Error).message },
        'a build of an audience failed',
      )
    }
    throw error
  }
}

/** Drops the members of builds that are no longer served, or were deleted with their audience. */
export async function dropBuilds({ postgres, clickhouse }: EventStores): Promise<void> {
  await postgres.query('UPDATE audience_builds SET members_kept = false WHERE build_id = ANY($1)', [
    await readDroppableBuilds(postgres),
  ])
  for (const store of Object.values(clickhouse)) {
    const stored = await readStoredBuilds(store)
    const kept = await keepsMembers(postgres, stored)
    for (const buildId of stored) if (!kept.has(buildId)) await dropMembers(store, buildId)
  }
}
