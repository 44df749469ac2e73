import { isUuid } from '../../../schemas/uuid.ts'
import { bindings } from '../../events/query/bind.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { BucketCounts } from '../builds.ts'
import type { Entity } from '../definition/definition.ts'
import type { InterestPlan } from '../signals/interestPlan.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import { stepSettings } from './stepSettings.ts'

/** Drops all members of a build with its partition. */
export async function dropMembers(clickhouse: ClickHouse, buildId: string): Promise<void> {
  // A partition's name cannot be bound.
  if (!isUuid(buildId)) throw new Error(`${buildId} is no build`)
  await clickhouse.command({
    sql: `ALTER TABLE audience_members DROP PARTITION '${buildId}'`,
    params: {},
  })
}

/** Returns the builds that have members. */
export async function readStoredBuilds(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ partition: string }>({
    sql: `SELECT DISTINCT partition FROM system.parts
          WHERE database = currentDatabase() AND table = 'audience_members' AND active`,
    params: {},
  })
  return rows.map(({ partition }) => partition)
}

/** The members of a build were stored incompletely or twice: repeat the step. */
class MembersIncomplete extends Error {}

/**
 * Returns the number of a build's members. Throws MembersIncomplete unless their keys are 1, 2, 3 and so on.
 */
export async function countMembers(clickhouse: ClickHouse, buildId: string): Promise<number> {
  const [totals] = await clickhouse.rows<{ count: number; greatest: number; sum: string }>({
    sql: `SELECT count() AS count, max(key) AS greatest, toString(sum(toInt128(key))) AS sum
          FROM audience_members WHERE build_id = {buildId:UUID}`,
    params: { buildId },
  })
  const { count, greatest, sum } = totals!
  const isWhole = greatest === count && BigInt(sum) === (BigInt(count) * (BigInt(count) + 1n)) / 2n
  if (!isWhole)
    throw new MembersIncomplete(`build ${buildId} has ${count} members, up to key ${greatest}`)
  return count
}

/** The lowest scores of the buckets medium and high: one and three full signals without a baseline. */
const mediumFrom = 50
const highFrom = 75

export const noBuckets: BucketCounts = { low: 0, medium: 0, high: 0 }

/**
 * Counts the members of a build by strength of interest. Members without interest in the window are in no
 * bucket.
 */
export async function countBuckets(
  clickhouse: ClickHouse,
  entity: Entity,
  buildId: string,
  interest: InterestPlan,
): Promise<BucketCounts> {
  const { bind, params } = bindings()
  const [select, column] =
    entity === 'people'
      ? [peopleInterest(interest, bind), personOf('hem_number')]
      : [companyInterest(interest, bind), 'company_domain']
  const [buckets] = await clickhouse.rows<BucketCounts>({
    sql: `SELECT countIf(best < ${mediumFrom}) AS low, countIf(best >= ${mediumFrom} AND best < ${highFrom}) AS medium,
  countIf(best >= ${highFrom}) AS high
FROM (SELECT ${column} AS member FROM audience_members WHERE build_id = ${bind('UUID', buildId)}) AS members
INNER JOIN (SELECT member, max(score) AS best FROM (
${select}
) GROUP BY member) AS interest ON members.member = interest.member
${stepSettings}`,
    params,
  })
  return buckets!
}
