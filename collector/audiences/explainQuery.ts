import { hemAsNumber } from '../../schemas/fields.ts'
import { bindings } from '../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../identity/store/personSql.ts'
import { profilesWhere } from '../identity/store/profileSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import { type CurrentPlan, currentCounts } from './builder/currentCounts.ts'
import { hemsOf } from './builder/membersPlan.ts'
import { leafMatchesSelect } from './builder/membersQuery.ts'
import { eventSums } from './builder/peopleMatchesQuery.ts'
import { leavesOf } from './definition/leaves.ts'

/** A definition's plan for one person, with the served build; null before the first. */
export interface ExplainPlan extends CurrentPlan {
  readonly hem: string
  readonly buildId: string | null
}

export interface ExplainRow {
  /** The matched leaves, as bits of one number in decimal digits. */
  readonly met: string
  readonly is_in_build: boolean
  /** Whether the person opted out or is being erased, and so matches nothing. */
  readonly is_hidden: boolean
  readonly has_profile: boolean
}

const none = '00000000-0000-0000-0000-000000000000'

export function explainQuery(plan: ExplainPlan): Query {
  const { bind, params } = bindings()
  const hem = bind('String', plan.hem)
  const member = hemAsNumber(hem)
  const build = bind('UUID', plan.buildId ?? none)
  return {
    sql: `SELECT
  toString((SELECT groupBitOr(met) FROM (
${leafMatchesSelect(withCounts(plan), bind)}
))) AS met,
  (SELECT toBool(count() > 0) FROM audience_members WHERE build_id = ${build} AND ${personOf('hem_number')} = ${personOf(member)}) AS is_in_build,
  toBool(${isSuppressed(member, suppressedPeople(plan.organizationId, plan.erased, bind))}) AS is_hidden,
  (${profilesWhere(['toBool(count() > 0)'], [`hem IN (${hemsOf(member, 'system.one')})`])}) AS has_profile`,
    params,
  }
}

/**
 * Returns the query that counts the person's events of each event leaf, as the array `counted` in their
 * order; null without event leaves.
 */
export function explainEventsQuery(plan: ExplainPlan): Query | null {
  const { bind, params } = bindings()
  const events = eventSums(withCounts(plan), bind)
  if (!events) return null
  return {
    sql: `SELECT [${events.sums.map((sum) => `toFloat64(sum(${sum}))`).join(', ')}] AS counted
FROM (
${events.select}
)
WHERE ${personOf('hem_number')} = ${personOf(hemAsNumber(bind('String', plan.hem)))}`,
    params,
  }
}

const withCounts = (plan: ExplainPlan) => ({
  ...plan,
  eventCounts:
    leavesOf(plan.parsed, 'event').length > 0
      ? (bind: Parameters<typeof currentCounts>[1]) => currentCounts(plan, bind)
      : null,
})
