import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import { type Lease, withLease } from '../../platform/postgres/lease.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { beginBuild, completeBuild, noteProgress } from '../builds.ts'
import { parseDefinition } from '../definition/parse.ts'
import { countEvents } from './countEvents.ts'
import { insertMembers } from './insertMembers.ts'
import { countMembers } from './memberStore.ts'
import { isPredictive } from './usedObjects.ts'

/** The assumed share of counting events in a build's progress. */
const countingShare = 0.7

/**
 * Builds an audience. Another call continues a build that was interrupted at any point. Nothing calls this in
 * the request for a build. audienceJobs.ts does, for the builds that requestBuild (builds.ts) has stored as
 * pending.
 *
 * - requestBuild ▶ wakeQueue, by its callers: a new, changed or cloned audience, a due refresh, a
 * list, a download after a failed first build, or `footfall-server audiences build`.
 * - In the primary process: audiences.builds (job) ▶ readUnfinishedBuilds ▶ audiences.build (job) ▶ buildNow,
 * under a lease.
 *
 * The steps of buildNow:
 *
 * 1. beginBuild sets the status `unloading`. Events count up to this moment, also in a later try.
 * 2. countEvents counts events that match each event leaf, by day and cookie ▶ audience_leaf_days. If the build has
 * failed or was deleted meanwhile, buildNow ends here.
 * 3. insertMembers stores the members ▶ audience_members.
 * 4. countMembers checks that keys are 1, 2, 3, …
 * 5. completeBuild sets the status `completed`; the audience serves this build.
 *
 * Resolves with the number of members, or undefined if the build is already completed, failed or deleted.
 * Throws LeaseHeldError when another process builds it.
 */
export const buildNow = (
  stores: EventStores,
  buildId: string,
  nowMs = Date.now(),
): Promise<number | undefined> =>
  withLease(stores.postgres, buildId, (lease) => buildWith(lease, stores, buildId, nowMs))

async function buildWith(
  lease: Lease,
  stores: EventStores,
  buildId: string,
  nowMs: number,
): Promise<number | undefined> {
  const { postgres } = stores
  const build = await beginBuild(postgres, buildId, nowMs)
  if (!build) return undefined
  const clickhouse = clickhouseOf(stores, build.organizationId)
  const deps = { postgres, clickhouse }
  const parsed = parseDefinition(build.definition)
  await countEvents(deps, build, parsed, (share) =>
    noteProgress(postgres, buildId, share * countingShare),
  )
  if (!(await isUnfinished(postgres, buildId))) return undefined
  const { inputs, usedBuilds } = await insertMembers(deps, lease, build, parsed)
  const count = await countMembers(clickhouse, buildId)
  const completed = {
    count,
    inputs,
    isPredictive: await isPredictive(postgres, parsed, usedBuilds),
  }
  await lease.inTransaction((client) => completeBuild(client, buildId, completed))
  return count
}

async function isUnfinished(client: Queryable, buildId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "SELECT FROM audience_builds WHERE build_id = $1 AND status = 'unloading'",
    [buildId],
  )
  return rowCount !== 0
}
