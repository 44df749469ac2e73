/**
 * The session fields of events, `session_id` and `is_entry`. They come from `hits`, which has a row for each event of a
 * pixel some seconds after its arrival. Until then they are null, as always for DSP events.
 */
import { fieldNamed, isSessionField } from '../../../schemas/fields.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Bind } from './bind.ts'
import type { Column } from './columns.ts'
import type { Filter } from './filter/filter.ts'
import { projectCondition } from './filter/filterSql.ts'
import type { Selection } from './filter/selection.ts'
import { type Order, orderBy } from './order.ts'
import { eventKey, isEntry, sessionId } from './sessionOfHit.ts'

/**
 * Has hits compared with events within seconds (analytics/hits): for events that were deleted, or that arrived before the
 * job of hits looked.
 */
export async function requestComparison(client: Queryable): Promise<void> {
  await client.query('UPDATE hits_progress SET compared_ms = 0')
}

/** The columns of rows that find their hits. */
const columnsNeeded = ['project_id', 'cookie_id', 'ts_millis', 'event_id']

/** Returns the FROM of a table with `columnsNeeded`, joined with the hits that meet conditions. */
const joinSessions = (
  table: string,
  scope: Selection['scope'],
  conditions: readonly string[],
  bind: Bind,
): string => `${table} AS visits GLOBAL ANY LEFT JOIN (
SELECT project_id AS _project_id, cookie_id AS _cookie_id, ts_millis AS _ts_millis, event_key AS _event_key,
  toNullable(${sessionId}) AS session_id, CAST(${isEntry}, 'Nullable(Bool)') AS is_entry
FROM hits
WHERE ${[`organization_id = ${bind('UUID', scope.organizationId)}`, ...projectCondition(scope, bind), ...conditions].join('\n  AND ')}
) AS sessions ON sessions._project_id = visits.project_id AND sessions._cookie_id = visits.cookie_id
  AND sessions._ts_millis = visits.ts_millis AND sessions._event_key = ${eventKey}`

/** Returns the FROM of all events of a selection with their session fields, where these determine the rows. */
export const eventsWithSessions = (
  { scope, window }: Pick<Selection, 'scope' | 'window'>,
  bind: Bind,
  events: string,
): string =>
  joinSessions(
    events,
    scope,
    [`ts_millis >= ${bind('Int64', window.startMs)}`, `ts_millis < ${bind('Int64', window.endMs)}`],
    bind,
  )

/**
 * The SQL of a page of events, in its order, with `columns`, some of which are session fields. `page` returns the SQL of
 * the page without those. For reads that only show them.
 */
export function withSessionsOf(
  columns: readonly Column[],
  { scope, order }: { readonly scope: Selection['scope']; readonly order: Order },
  bind: Bind,
  page: (columns: readonly Column[]) => string,
): string {
  const names = columns.map(({ name }) => name)
  const inside = columns.filter(({ name }) => !isNamedSessionField(name))
  const missing = columnsNeeded
    .filter((name) => !names.includes(name))
    .map((name) => ({ name, sql: name }))
  // The primary key of hits.
  const key = 'project_id, ts_millis, cookie_id'
  return `WITH page AS (
${page([...inside, ...missing])}
)
SELECT ${names.join(', ')}
FROM ${joinSessions('page', scope, [`(${key}) IN (SELECT ${key} FROM page)`], bind)}
${orderBy(order)}`
}

const isNamedSessionField = (name: string): boolean => {
  const field = fieldNamed(name)
  return field !== undefined && isSessionField(field)
}

export const hasSessionColumns = (columns: readonly Column[]): boolean =>
  columns.some(({ name }) => isNamedSessionField(name))

/** Whether filters, or the fields `names`, need sessions to determine the rows. */
export const isAboutSessions = (
  filters: readonly Filter[],
  names: readonly string[] = [],
): boolean =>
  [...filters.flatMap(({ field }) => field?.name ?? []), ...names].some(isNamedSessionField)
