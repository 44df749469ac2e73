import type { Bind } from '../../events/query/bind.ts'
import { eventsSource } from '../../events/query/eventsSource.ts'
import { filterConditions } from '../../events/query/filter/filterSql.ts'
import { dayMs } from '../../platform/days.ts'
import type { EventLeaf } from '../definition/definition.ts'

export interface CountsScan {
  readonly organizationId: string
  readonly projectId: string
  /** Leaves by id. There is only one leaf if its filters need values that are not columns of the table. */
  readonly leaves: ReadonlyMap<string, Pick<EventLeaf, 'filters' | 'source' | 'pixelId'>>
  /** Days since 1970 (UTC), ascending. */
  readonly days: readonly number[]
  /** Events before this time count, epoch milliseconds. */
  readonly asOfMs: number
  /** SQL that selects the cookies to read; absent: all. */
  readonly cookies?: string | undefined
}

/** Returns SQL of `leaf_id`, `day`, `cookie_id` and `events`, which is at least 1. */
export function eventCountsSelect(scan: CountsScan, bind: Bind): string {
  const { organizationId, projectId, days } = scan
  const window = {
    startMs: days[0]! * dayMs,
    endMs: Math.min((days.at(-1)! + 1) * dayMs, scan.asOfMs),
  }
  const leaves = [...scan.leaves]
  const organization = bind('UUID', organizationId)
  const from = eventsSource(
    {
      scope: { organizationId, projectId, pixelId: null, campaignId: null },
      window,
      filters: leaves.length === 1 ? leaves[0]![1].filters : [],
    },
    [],
    bind,
  )
  const conditions = leaves.map(([, leaf]) => leafCondition(leaf, organization, bind))
  const leafIds = leaves.map(([leafId]) => bind('UUID', leafId))
  const counts =
    leaves.length === 1 ? ['count()'] : conditions.map((condition) => `countIf(${condition})`)
  const isGapless = days.at(-1)! - days[0]! + 1 === days.length
  return `SELECT leaf_id, toDate(day_number) AS day, cookie_id, events
FROM (
SELECT cookie_id, toUInt16(intDiv(ts_millis, ${dayMs})) AS day_number, [${counts.join(', ')}] AS counts
FROM ${from}
WHERE organization_id = ${organization} AND project_id = ${bind('UUID', projectId)}
  AND ts_millis >= ${bind('Int64', window.startMs)} AND ts_millis < ${bind('Int64', window.endMs)}
  ${isGapless ? '' : `AND intDiv(ts_millis, ${dayMs}) IN ${bind('Array(Int64)', days)}`}
  ${scan.cookies === undefined ? '' : `AND cookie_id IN (${scan.cookies})`}
  AND (${conditions.join(' OR ')})
GROUP BY cookie_id, day_number
)
ARRAY JOIN [${leafIds.join(', ')}] AS leaf_id, counts AS events
WHERE events > 0`
}

function leafCondition(
  { filters, source, pixelId }: Pick<EventLeaf, 'filters' | 'source' | 'pixelId'>,
  organization: string,
  bind: Bind,
): string {
  const parts = [
    ...(source === null ? [] : [`source = ${bind('String', source)}`]),
    ...(pixelId === null ? [] : [`pixel_id = ${bind('UUID', pixelId)}`]),
    ...filterConditions(filters, organization, bind),
  ]
  return parts.length === 0 ? 'true' : `(${parts.join(' AND ')})`
}
