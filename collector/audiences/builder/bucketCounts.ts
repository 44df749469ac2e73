import { bindings } from '../../events/query/bind.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { BucketCounts } from '../builds.ts'
import type { Entity } from '../definition/definition.ts'
import type { InterestPlan } from '../signals/interestPlan.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import { stepSettings } from './steps.ts'

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
  const [found] = await clickhouse.rows<BucketCounts>({
    sql: `SELECT countIf(best < ${mediumFrom}) AS low, countIf(best >= ${mediumFrom} AND best < ${highFrom}) AS medium,
  countIf(best >= ${highFrom}) AS high
FROM (SELECT ${column} AS member FROM audience_members WHERE build_id = ${bind('UUID', buildId)}) AS members
INNER JOIN (SELECT member, max(score) AS best FROM (
${select}
) GROUP BY member) AS interest ON members.member = interest.member
${stepSettings}`,
    params,
  })
  return found!
}
