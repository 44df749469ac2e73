import { type Bind, bindings } from '../../events/query/bind.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { dateOf, dayMs } from '../../platform/days.ts'
import type { Lease } from '../../platform/postgres/lease.ts'
import type { Build } from '../builds.ts'
import { leavesOf, type Parsed } from '../definition/definition.ts'
import {
  type BuildInputs,
  buildInputsOf,
  type ReusableBuild,
  readIdentityState,
  readReusableBuild,
} from './buildInputs.ts'
import { type LeafDay, leafIdsOf, readLeafDays } from './leafDays.ts'
import {
  type BuildDeps,
  beginsBefore,
  deleteEarlierTry,
  readDeadline,
  stepSettings,
} from './memberStore.ts'
import { cookiesWhere, hemCondition, type MembersPlan } from './membersPlan.ts'
import { membersSelect, orderOf } from './membersQuery.ts'
import { readUsedBuilds, readUsedLists } from './usedObjects.ts'

/**
 * Step 3 of a build: finds the members of a definition and stores them under the build's id, in the order of their keys:
 *
 * - reads what the definition depends on: counted events of its leaves, identity, other audiences, lists, erased people
 * - if only today's events have changed since an earlier build (buildInputs.ts): incrementalSelect checks only people
 *   with such events again
 * - otherwise: membersSelect finds all members
 * - deletes the rows of an earlier try, and inserts
 *
 * Returns the build's inputs, and the builds of other audiences that it used. Throws MissingReference.
 */
export async function insertMembers(
  { postgres, clickhouse }: BuildDeps,
  lease: Lease,
  build: Build,
  parsed: Parsed,
): Promise<{ inputs: BuildInputs | null; usedBuilds: readonly string[] }> {
  const { buildId, organizationId, projectId, intentWindowDays } = build
  const identity = await readIdentityState({ postgres, clickhouse })
  const today = Math.floor(build.asOfMs / dayMs)
  const leafIds = leafIdsOf(projectId, parsed)
  const fromDay =
    today - Math.max(0, ...leavesOf(parsed, 'event').map(({ leaf }) => leaf.withinDays))
  const counted = (await readLeafDays(postgres, [...new Set(leafIds.values())], fromDay)).filter(
    ({ run_id, day }) => run_id !== null && day <= today,
  )
  const usedBuilds = await readUsedBuilds(postgres, parsed)
  const inputs = buildInputsOf(build, parsed, identity, { counted, usedBuilds, today })
  const reusable =
    inputs && (await readReusableBuild({ postgres, clickhouse }, build, inputs, dateOf(today)))
  const plan: MembersPlan = {
    organizationId,
    parsed,
    leafIds,
    today,
    intentWindowDays,
    usedBuilds,
    usedLists: await readUsedLists(postgres, parsed),
    erased: await erasedHems(postgres, organizationId),
    eventCounts: (bind) => countedEventsSelect(counted, bind),
  }
  const select = (bind: Bind) =>
    reusable ? incrementalSelect(plan, reusable, counted, bind) : membersSelect(plan, bind)
  if (!build.isFirstTry) await deleteEarlierTry(clickhouse, lease, buildId)
  const deadline = await readDeadline(clickhouse, lease)
  await clickhouse.command(membersInsert(plan, buildId, select, deadline))
  return { inputs, usedBuilds: [...usedBuilds.values()] }
}

/**
 * Returns the statement that stores the members of a build, if it begins before `deadlineMs`. `select` returns SQL of
 * `member` and `bucket`, in the order of the build. ClickHouse numbers the sorted rows while they are one stream, so the keys follow
 * the order of the subquery. Pages and parts of a file read adjacent profiles only in this order.
 */
export function membersInsert(
  { organizationId, parsed }: MembersPlan,
  buildId: string,
  select: (bind: Bind) => string,
  deadlineMs: number,
): Query {
  const { bind, params } = bindings()
  const [column, otherColumn] =
    parsed.entity === 'people' ? ['hem_number', 'company_domain'] : ['company_domain', 'hem_number']
  const nothing = parsed.entity === 'people' ? "''" : '0'
  return {
    sql: `INSERT INTO audience_members (build_id, organization_id, key, ${column}, ${otherColumn}, bucket)
SELECT ${bind('UUID', buildId)}, ${bind('UUID', organizationId)}, toInt64(rowNumberInAllBlocks() + 1), member, ${nothing}, bucket
FROM (
${select(bind)}
)
WHERE NOT throwIf(NOT (${beginsBefore(bind('Int64', deadlineMs))}), 'the lease of the build has expired')
${stepSettings}, log_comment = ${bind('String', buildId)}`,
    params,
  }
}

/** As membersSelect, from the members of an earlier build and the changed people. */
function incrementalSelect(
  plan: MembersPlan,
  { buildId, changed }: ReusableBuild,
  counted: readonly LeafDay[],
  bind: Bind,
): string {
  const among: MembersPlan = { ...plan, among: changed }
  const cookies = cookiesWhere(plan.organizationId, hemCondition(among, bind)!, bind)
  const eventCounts = (bind: Bind) =>
    `${countedEventsSelect(counted, bind)} AND cookie_id IN (${cookies})`
  return `SELECT member, bucket FROM (
SELECT hem_number AS member, bucket FROM audience_members
WHERE build_id = ${bind('UUID', buildId)} AND hem_number NOT IN (${changed(bind)})
UNION ALL
${membersSelect({ ...among, eventCounts }, bind)}
)
ORDER BY ${orderOf(plan)}`
}

/** Returns SQL of the counted events of leaves on these days, from the valid run of each day. */
export function countedEventsSelect(counted: readonly LeafDay[], bind: Bind): string {
  const leafIds = [...new Set(counted.map(({ leaf_id }) => leaf_id))]
  const isCounted = chunked(counted).map((some) => {
    const listOf = (type: string, value: (counted: LeafDay) => string) =>
      bind(`Array(${type})`, some.map(value))
    const leaves = listOf('UUID', ({ leaf_id }) => leaf_id)
    const days = listOf('Date', ({ day }) => dateOf(day))
    const runs = listOf('UUID', ({ run_id }) => run_id!)
    return `(leaf_id, day, run_id) IN arrayZip(${leaves}, ${days}, ${runs})`
  })
  return `SELECT leaf_id, day, cookie_id, events FROM audience_leaf_days
WHERE leaf_id IN ${bind('Array(UUID)', leafIds)} AND (${isCounted.join(' OR ')})`
}
