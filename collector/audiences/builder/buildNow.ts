import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import { erasedHems, everywhere } from '../../events/query/suppressedPeople.ts'
import { dayMs } from '../../events/query/window.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { requireAlone, UnderWayElsewhere } from '../alone.ts'
import { beginBuild, completeBuild, noteProgress } from '../builds.ts'
import { parseDefinition } from '../definition/parse.ts'
import { countBuckets, noBuckets } from './bucketCounts.ts'
import { countEvents } from './countEvents.ts'
import { insertMembers } from './insertMembers.ts'
import { interestPlanOf } from './intentHits.ts'
import { countMembers } from './members.ts'
import { isPredictive } from './usedBuilds.ts'

/** The share of a build that counting events is taken for. */
const countingShare = 0.7

/**
 * Builds an audience, step by step; a build that was broken off anywhere is done by calling it again. Resolves with how
 * many members it has; undefined where there is nothing to build, because it is done, failed, or was deleted.
 */
export async function buildNow(
  stores: EventStores,
  buildId: string,
  nowMs = Date.now(),
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
  return inTransaction(postgres, async (client) => {
    // Two that stored members at once would store them twice.
    await requireAlone(client, buildId)
    await requireUnfinished(client, buildId)
    const { inputs, usedBuilds } = await insertMembers(deps, build, parsed)
    const count = await countMembers(clickhouse, buildId)
    const interest = interestPlanOf({
      ...build,
      parsed,
      hiddenFrom: everywhere,
      today: Math.floor(build.asOfMs / dayMs),
      erased: await erasedHems(postgres, everywhere),
    })
    await completeBuild(client, buildId, {
      count,
      inputs,
      bucketCounts: interest
        ? await countBuckets(clickhouse, parsed.entity, buildId, interest)
        : noBuckets,
      isPredictive: await isPredictive(client, parsed, usedBuilds),
    })
    return count
  })
}

async function requireUnfinished(client: Queryable, buildId: string): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM audience_builds WHERE build_id = $1 AND status = 'unloading'",
    [buildId],
  )
  if (rowCount === 0) throw new UnderWayElsewhere(`build ${buildId} has ended meanwhile`)
}
