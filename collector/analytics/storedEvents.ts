/** The events in rows of `counted_sessions`: parallel arrays, of which the row of a session's last day has all. */

import type { Bind } from '../events/query/bind.ts'
import { type Filter, pathIntoEventData } from '../events/query/filter/filter.ts'
import { type Payload, payloadOf } from '../events/query/filter/filterSql.ts'
import { filterPredicate } from './filterPredicate.ts'
import type { GoalConditions } from './goals.ts'
import { isNamePath } from './rollup/countedFields.ts'

/** The columns of stored events that queries name, with their SQL over rows of `events`. */
export const storedEventColumns = {
  event_type: 'event_type',
  page_path: 'page_path',
  page_host: 'page_host',
  event_name:
    "CAST(JSONExtract(event_data, 'name', 'Nullable(String)'), 'LowCardinality(Nullable(String))')",
  event_data: `if(JSONHas(event_data, 'properties'),
    concat('{"properties":', JSONExtractRaw(event_data, 'properties'), '}'), '')`,
} as const
export type StoredEventColumn = keyof typeof storedEventColumns

/** Returns SQL of the array of a column's values in rows. */
export const storedArray = (column: StoredEventColumn | 'day' | 'event_ms'): string =>
  `met.${column}`

/** Returns how filters and dimensions read event_data of stored events. */
export function storedPayload(bind: Bind): Payload {
  const payload = payloadOf([], bind)
  return (path, as) => (isNamePath(path) && as === 'String' ? 'event_name' : payload(path, as))
}

/** Returns SQL for whether a stored event meets filters. */
export const storedPredicate = (
  filters: readonly Filter[],
  organization: string,
  bind: Bind,
): string => filterPredicate(filters, organization, bind, storedPayload(bind))

/** Returns the column of a field, or of a path into event_data, that is stored. */
export function columnOfDimension(name: string): StoredEventColumn {
  const path = pathIntoEventData(name)
  if (path) return columnOfPath(path)
  return name as StoredEventColumn
}

const columnOfPath = (path: readonly string[]): StoredEventColumn =>
  isNamePath(path) ? 'event_name' : 'event_data'

/** Returns the columns that these filters read. */
export const columnsOfFilters = (filters: readonly Filter[]): StoredEventColumn[] =>
  filters.map(({ field, path }) => (path ? columnOfPath(path) : (field.name as StoredEventColumn)))

/** Returns the columns that decide which events reach a goal, and their values. */
export const columnsOfGoal = ({ filters, valuePath }: GoalConditions): StoredEventColumn[] => [
  ...columnsOfFilters(filters),
  ...(valuePath ? (['event_data'] as const) : []),
]
