import type { Filter } from './filter.ts'

/**
 * Returns the values that a filter compares with, each as a filter `eq`. Two requests that differ only in such a value
 * differ in the rows that have it. For `eq` and `like` there is nothing to return.
 */
export function comparedValues(filter: Filter): Filter[] {
  const { others = [], ...compared } = filter
  if (filter.op === 'eq' || filter.op === 'like') return []
  return [compared, ...others.map((value) => ({ ...compared, ...value }) as Filter)].map((one) => ({
    ...one,
    op: 'eq',
  }))
}
