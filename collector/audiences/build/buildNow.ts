import { inTransaction } from '../../platform/postgres/transaction.ts'
import { beginBuild, completeBuild, noteProgress } from '../builds.ts'
import { parseDefinition } from '../definition/parse.ts'
import { countEvents } from './countEvents.ts'
import { insertMembers } from './insertMembers.ts'
import { countMembers } from './members.ts'
import type { BuildDeps } from './steps.ts'

/** The share of a build that counting events is taken for. */
const countingShare = 0.7

/**
 * Builds an audience, step by step; a build that was broken off anywhere is done by calling it again. Resolves with how
 * many members it has; undefined where there is nothing to build, because it is done, failed, or was deleted.
 */
export async function buildNow(
  deps: BuildDeps,
  buildId: string,
  nowMs = Date.now(),
): Promise<number | undefined> {
  const { postgres, clickhouse } = deps
  const build = await beginBuild(postgres, buildId, nowMs)
  if (!build) return undefined
  const parsed = parseDefinition(build.definition)
  await countEvents(deps, build, parsed, (share) => noteProgress(postgres, buildId, share * countingShare))
  await insertMembers(deps, build, parsed)
  const count = await countMembers(clickhouse, buildId)
  await inTransaction(postgres, (client) => completeBuild(client, buildId, count))
  return count
}
