/** SQL of the fields of events over rows of `hits`, and of conditions on them. */
import type { Bind } from '../../events/query/bind.ts'
import { type Filter, pathIntoEventData } from '../../events/query/filter/filter.ts'
import { filterCondition, type Payload, payloadOf } from '../../events/query/filter/filterSql.ts'
import { isEntry, sessionId } from '../../events/query/sessionOfHit.ts'

/** The fields of events that hits have, with their SQL. */
const columns: ReadonlyMap<string, string> = new Map([
  ...[
    'event_type',
    'page_path',
    'page_host',
    'pixel_id',
    'cookie_id',
    'project_id',
    'is_bot',
    'ts_millis',
    'timestamp',
    'received_at',
  ].map((name) => [name, name] as const),
  ['is_entry', isEntry],
  ['session_id', sessionId],
])

const isNamePath = (path: readonly string[]): boolean => path.length === 1 && path[0] === 'name'

/** Whether the JSON in `event_data` of hits has the value at a path: they keep nothing but the properties. */
const isPropertyPath = (path: readonly string[]): boolean =>
  path.length > 1 && path[0] === 'properties'

/** A value of an event: of a field, or at a path into event_data in a type that JSON has. */
export type EventValue =
  | { readonly name: string; readonly path?: never }
  | { readonly path: readonly string[]; readonly type: string; readonly name?: never }

/** Returns the value of a dimension, which is the name of a field or a path into event_data. */
export function dimensionValue(name: string): EventValue {
  const path = pathIntoEventData(name)
  return path ? { path, type: 'String' } : { name }
}

export function hitValue(value: EventValue, bind: Bind): string | undefined {
  if (!value.path) return columns.get(value.name)
  if (isNamePath(value.path) && value.type === 'String') return 'event_name'
  return isPropertyPath(value.path) ? eventValue(value, bind) : undefined
}

/** Returns SQL of a value over rows of events. */
export const eventValue = (value: EventValue, bind: Bind): string =>
  value.path
    ? `JSONExtract(event_data, ${value.path.map((name) => bind('String', name)).join(', ')}, 'Nullable(${value.type})')`
    : value.name

/** Whether hits decide a filter on an event field. */
export const isFilterOfHits = ({ field, path, as }: Filter): boolean =>
  path ? isPropertyPath(path) || (isNamePath(path) && as !== 'number') : columns.has(field.name)

/** Returns filters on event fields that hits decide (isFilterOfHits) as conditions. */
export function fieldConditions(filters: readonly Filter[], bind: Bind): readonly string[] {
  const ofData = payloadOf(
    filters.filter(({ path }) => path && !isNamePath(path)),
    bind,
  )
  const payload: Payload = (path, as) => (isNamePath(path) ? 'event_name' : ofData(path, as))
  return filters.map((filter) =>
    filterCondition(
      filter.field ? onSql(filter, columns.get(filter.field.name)!) : filter,
      bind,
      payload,
    ),
  )
}

/** Returns a filter that compares SQL instead of its field. */
export const onSql = (filter: Filter, sql: string): Filter =>
  ({ ...filter, field: { ...filter.field!, name: sql } }) as Filter
