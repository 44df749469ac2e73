import { hemNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { dayMs } from '../../events/query/window/window.ts'
import { leavesOf } from '../definition/leaves.ts'
import { bitOf, type MembersPlan } from './membersPlan.ts'

/** Sums of events over the cookies of each person, and the matched event leaves. */
export interface EventSums {
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
