import { hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { hemsOfPerson } from '../../identity/store/personSql.ts'
import { leavesOf } from '../definition/leaves.ts'
import type { InterestPlan } from '../signals/interestPlan.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import { bitOf, type MembersPlan } from './membersPlan.ts'

/** The lowest scores of the buckets medium and high: one and three full signals without a baseline. */
const mediumFrom = 50
const highFrom = 75

/**
 * Returns SQL of everybody with interest in the topics of the intent leaves. It has `member`, the `bits` of the matched
 * leaves, which may be none, and `bucket` by the highest score. People match by any of their addresses.
 */
export function intentMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const interest = interestPlanOf(plan)
  if (!interest) return []
  const hems =
    plan.hem === undefined
      ? undefined
      : `SELECT arrayJoin(${hemsOfPerson(hemAsNumber(bind('String', plan.hem)))}) AS hem_number`
  return [
    `SELECT member, ${bitsOf(plan, bind)} AS bits,
  toUInt8(1 + (max(score) >= ${mediumFrom}) + (max(score) >= ${highFrom})) AS bucket
FROM (
${plan.parsed.entity === 'people' ? peopleInterest(interest, bind, hems) : companyInterest(interest, bind)}
)
GROUP BY member`,
  ]
}

/** Returns the interest that the intent leaves read together; null without intent leaves. */
function interestPlanOf({
  parsed,
  organizationId,
  today,
  intentWindowDays,
  erased,
}: MembersPlan): InterestPlan | null {
  const leaves = leavesOf(parsed, 'intent')
  if (leaves.length === 0) return null
  const topics = [...new Set(leaves.flatMap(({ leaf }) => leaf.topics))]
  return {
    organizationId,
    topics,
    today,
    windowDays: intentWindowDays,
    erased,
  }
}

function bitsOf({ parsed }: MembersPlan, bind: Bind): string {
  return leavesOf(parsed, 'intent')
    .map(({ index, leaf: { topics, match, minScore } }) => {
      const met = `countIf(topic IN ${bind('Array(String)', topics)} AND score >= ${bind('UInt8', minScore)})`
      return bitOf(index, `${met} >= ${match === 'all' ? topics.length : 1}`)
    })
    .join(' + ')
}
