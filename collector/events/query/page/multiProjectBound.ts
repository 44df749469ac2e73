import { isIdentityField } from '../../../../schemas/fields.ts'
import type { Bind } from '../bind.ts'
import { isAboutSessions } from '../sessions.ts'
import type { EventsPlan } from './eventsPlan.ts'

/** Above this number, querying each project costs more than it saves. */
const projectsMax = 32

/**
 * Whether a query for the time of a page's last row precedes the page. Otherwise ClickHouse would sort the
 * entire window of several projects.
 */
export function readsTimeOfLast({
  scope,
  order,
  filters,
  until,
  isForEstimate,
}: EventsPlan): boolean {
  const { projectIds = [] } = scope
  const hasSeveralProjects = projectIds.length > 1 && projectIds.length <= projectsMax
  // Filters on people and sessions would be evaluated for each project.
  const hasCostlyFilters =
    isAboutSessions(filters) || filters.some(({ field }) => field && isIdentityField(field))
  return hasSeveralProjects && !hasCostlyFilters && !until && !isForEstimate && order !== 'received'
}

/**
 * The time of the last row of a page of several projects, as a redundant condition. The primary key is sorted
 * by the time of one project. So each project returns, from its end, the times of as many rows as the page
 * may have. The query then reads all columns only up to the last of these times. If the plan has a span, its
 * end is used instead.
 */
export function multiProjectBound(
  plan: EventsPlan,
  { where, rows, events }: { where: readonly string[]; rows: number; events: string },
  bind: Bind,
): readonly string[] {
  if (!readsTimeOfLast(plan)) return []
  const { scope, order, spanMs } = plan
  const [direction, op, last] = order === 'desc' ? [' DESC', '>=', 'min'] : ['', '<=', 'max']
  if (spanMs !== undefined)
    return [
      `ts_millis ${op} ${bind('Int64', pageBegin(plan) + (order === 'desc' ? -spanMs : spanMs))}`,
    ]
  const first = `ORDER BY ts_millis${direction} LIMIT ${bind('UInt32', rows)}`
  const times = scope.projectIds!.map(
    (id) => `(SELECT ts_millis FROM ${events}
WHERE ${[...where, `project_id = ${bind('UUID', id)}`].join('\n  AND ')}
${first})`,
  )
  return [
    `ts_millis ${op} (SELECT ${last}(ts_millis) FROM (SELECT ts_millis FROM (
${times.join('\nUNION ALL\n')}
) ${first}))`,
  ]
}

/** Returns the start of a page, in its order of time. */
export const pageBegin = ({ cursor, order, window }: EventsPlan): number =>
  cursor?.from.millis ?? (order === 'desc' ? window.endMs : window.startMs)
