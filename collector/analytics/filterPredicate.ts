import type { Bind } from '../events/query/bind.ts'
import type { Filter } from '../events/query/filter/filter.ts'
import { filterConditions, type Payload } from '../events/query/filter/filterSql.ts'

/** Returns the fields in filters, which determine the FROM of a query. */
export const namesOf = (lists: readonly (readonly Filter[])[]): string[] =>
  lists.flat().flatMap(({ field }) => field?.name ?? [])

/** Returns SQL for whether an event meets filters; an unknown value meets none. */
export function filterPredicate(
  filters: readonly Filter[],
  organization: string,
  bind: Bind,
  payload?: Payload,
): string {
  if (filters.length === 0) return 'true'
  return filterConditions(filters, organization, bind, payload)
    .map((sql) => `ifNull(${sql}, false)`)
    .join(' AND ')
}
