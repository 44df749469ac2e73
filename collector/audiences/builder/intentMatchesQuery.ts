import { hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { hemsOfPerson } from '../../identity/store/personSql.ts'
import { leavesOf } from '../definition/leaves.ts'
import type { InterestPlan } from '../signals/interestPlan.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import { bitOf, type MembersPlan } from './membersPlan.ts'

/** Returns SQL of the intent leaves that people match, by any of their addresses. */
export function intentMatchesOfPeople(plan: MembersPlan, bind: Bind): string[] {
  const interest = interestPlanOf(plan)
  if (!interest) return []
  const hems =
    plan.hem === undefined
      ? undefined
      : `SELECT arrayJoin(${hemsOfPerson(hemAsNumber(bind('String', plan.hem)))}) AS hem_number`
  return [
    `SELECT member, ${bitsOf(plan, bind)} AS bits
FROM (
${peopleInterest(interest, bind, hems)}
)
GROUP BY member
HAVING bits != 0`,
  ]
}

/** Returns SQL of the intent leaves that companies match. */
export function intentMatchesOfCompanies(plan: MembersPlan, bind: Bind): string[] {
  const interest = interestPlanOf(plan)
  if (!interest) return []
  return [
    `SELECT member, ${bitsOf(plan, bind)} AS bits
FROM (
${companyInterest(interest, bind)}
)
GROUP BY member
HAVING bits != 0`,
  ]
}

/** Returns the interest that the intent leaves read together; null without intent leaves. */
export function interestPlanOf({
  parsed,
  organizationId,
  today,
  intentWindowDays,
  erased,
}: Pick<
  MembersPlan,
  'parsed' | 'organizationId' | 'today' | 'intentWindowDays' | 'erased'
>): InterestPlan | null {
  const leaves = leavesOf(parsed, 'intent')
  if (leaves.length === 0) return null
  const topics = [...new Set(leaves.flatMap(({ leaf }) => leaf.topics))]
  return {
    organizationId,
    hiddenFrom: organizationId,
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
