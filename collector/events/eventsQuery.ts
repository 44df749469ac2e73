import type { Query } from '../clickhouse/client.ts'
import type { EventsPlan } from './plan.ts'
import { type Bind, bindings, conditions } from './where.ts'

/** The name of the extra first column of eventsQueryCarryingNext. No field is called so. */
export const nextColumn = '_next'

const newestFirst = 'ORDER BY ts_millis DESC, event_id DESC'

/** The columns that place a row in the order of a page. */
const keyColumns = ['ts_millis', 'event_id'] as const

/** True when the rows of a plan show their own place, so that a cursor can be read from any of them. */
export const rowsShowTheirKey = ({ columns }: EventsPlan): boolean =>
  keyColumns.every((key) => columns.some(({ name }) => name === key))

/** The rows of a page, newest first, and one more, by which the caller knows that there are more. */
export function eventsQuery(plan: EventsPlan): Query {
  const { bind, params } = bindings()
  return { sql: pageSql(plan, columnNames(plan), bind), params }
}

/**
 * The same rows, each led by the column `_next`: the key of the last of them, as `(ts_millis,'event_id')`. It is the
 * same in every row, so it is known when the first bytes arrive, and costs about a fifth more than eventsQuery.
 */
export function eventsQueryCarryingNext(plan: EventsPlan): Query {
  const { bind, params } = bindings()
  const names = columnNames(plan)
  const sql = `SELECT toString(min((ts_millis, event_id)) OVER ()) AS ${nextColumn}, ${names.join(', ')}
FROM (
${pageSql(plan, withKey(names), bind)}
)
${newestFirst}`
  return { sql, params }
}

const columnNames = (plan: EventsPlan): readonly string[] => plan.columns.map(({ name }) => name)

const withKey = (names: readonly string[]): readonly string[] => [...new Set([...names, ...keyColumns])]

function pageSql(plan: EventsPlan, names: readonly string[], bind: Bind): string {
  const all = conditions(plan, bind)
  const after = cursorConditions(plan, bind)
  const offset = plan.offset > 0 ? ` OFFSET ${bind('UInt32', plan.offset)}` : ''
  const limit = `LIMIT ${bind('UInt32', plan.limit + 1)}${offset}`
  if (plan.distinct.length === 0) {
    return `SELECT ${names.join(', ')}
FROM events
WHERE ${[...all, ...after].join('\n  AND ')}
${newestFirst}
${limit}`
  }

  // Which event is the newest of its kind is decided over the whole window, before the cursor cuts it: otherwise a
  // kind that an earlier page has shown would come again with its second newest event.
  const kinds = plan.distinct.map(({ name }) => name).join(', ')
  return `SELECT ${names.join(', ')}
FROM (
SELECT ${withKey(names).join(', ')}
FROM events
WHERE ${all.join('\n  AND ')}
${newestFirst}
LIMIT 1 BY ${kinds}
)${after.length > 0 ? `\nWHERE ${after.join('\n  AND ')}` : ''}
${newestFirst}
${limit}`
}

/** The first comparison says nothing new, but the primary key understands it. */
function cursorConditions({ cursor }: EventsPlan, bind: Bind): readonly string[] {
  if (!cursor) return []
  const tsMillis = bind('Int64', cursor.from.tsMillis)
  const eventId = bind('UUID', cursor.from.eventId)
  return [`ts_millis <= ${tsMillis}`, `(ts_millis, event_id) <= (${tsMillis}, ${eventId})`]
}
