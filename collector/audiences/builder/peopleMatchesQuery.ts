import { hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { profilesWhere } from '../../identity/store/profileSql.ts'
import { eventSums } from './eventSums.ts'
import { audienceMatchesQueries, listMatchesQueries } from './membershipMatchesQuery.ts'
import { bitOf, hemCondition, type MembersPlan, profileBits } from './membersPlan.ts'

/**
 * Returns the people of each source except intent: SELECTs of `member`, a hem number of the person, and `bits`, the matched
 * leaves.
 */
export function peopleMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const events = eventSums(plan, bind)
  return [
    ...(events
      ? [
          `SELECT ${personOf('hem_number')} AS member, ${events.bits((sum) => `sum(${sum})`)} AS bits
FROM (
${events.select}
)
GROUP BY member
HAVING bits != 0`,
        ]
      : []),
    ...profileMatchesQueries(plan, bind),
    ...audienceMatchesQueries(plan, 'hem_number', bind),
    ...listMatchesQueries(plan, bind),
  ]
}

/** Reads all profile leaves in one scan. */
function profileMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const leaves = profileBits(plan, bind)
  if (leaves.length === 0) return []
  const ofSome = hemCondition(plan, bind)
  const bits = leaves.map(({ index, condition }) => bitOf(index, condition)).join(' + ')
  return [
    profilesWhere(
      [`${hemAsNumber('hem')} AS member`, `${bits} AS bits`],
      [`(${leaves.map(({ condition }) => condition).join(' OR ')})`, ...(ofSome ? [ofSome] : [])],
    ),
  ]
}
