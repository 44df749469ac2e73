import { hemAsNumber, hemNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { profilesWhere } from '../../identity/store/profileSql.ts'
import { dayMs } from '../../platform/days.ts'
import { leavesOf } from '../definition/definition.ts'
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

/** Sums of events over the cookies of each person, and the matched event leaves. */
interface EventSums {
  /** SQL: `hem_number` and the sums over all known cookies of a person. */
  readonly select: string
  readonly sums: readonly string[]
  /** Returns SQL of the leaves' bits; `of` returns SQL of one of the sums. */
  bits(of: (sum: string) => string): string
}

/**
 * Sums event counts by person. The dictionaries of all reads determine the current person of a cookie, so the
 * same links count. An event from before the identification counts from then on. Null without event leaves.
 */
export function eventSums(
  { parsed, leafIds, eventCounts, today, organizationId }: MembersPlan,
  bind: Bind,
): EventSums | null {
  const leaves = leavesOf(parsed, 'event')
  if (leaves.length === 0 || eventCounts === null) return null
  const sums = leaves.map(({ index }) => `events_${index}`)
  const columns = leaves.map(({ index, leaf }, place) => {
    const from = bind(
      'String',
      new Date((today - leaf.withinDays) * dayMs).toISOString().slice(0, 10),
    )
    return `sumIf(events, leaf_id = ${bind('UUID', leafIds.get(index)!)} AND day >= toDate(${from})) AS ${sums[place]}`
  })
  const atLeast = leaves.map(({ leaf }) => bind('UInt32', leaf.atLeast))
  return {
    sums,
    select: `SELECT ${hemNumber} AS hem_number, ${sums.join(', ')}
FROM (
SELECT ${bind('UUID', organizationId)} AS organization_id, cookie_id, ${columns.join(', ')}
FROM (
${eventCounts(bind)}
)
GROUP BY cookie_id
)
WHERE hem_number != 0`,
    bits: (of) =>
      leaves
        .map(({ index }, place) => bitOf(index, `${of(sums[place]!)} >= ${atLeast[place]}`))
        .join(' + '),
  }
}
